byte x;
active proctype p() { x = 1 }
ltl good { [] (x < 2) && <> (x == 1) U (x -> !x) }
ltl bad { [] (y < 2) }
ltl worse { [] x < }
never { do :: z == 1 od }
