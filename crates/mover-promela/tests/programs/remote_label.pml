byte x;
active proctype p() { x = 1; here: x = 2; there: goto out; x = 3; out: x = 4 }
active proctype q() { p[0]@here -> x = 7; p[0]@there -> x = 8 }
