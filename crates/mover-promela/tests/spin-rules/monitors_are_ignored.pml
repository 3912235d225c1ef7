byte x;
active proctype p() { x = 1; here: x = 2 }
ltl never_three { [] (x != 3) && <> (x == 2 -> p[0]@here U true) }
