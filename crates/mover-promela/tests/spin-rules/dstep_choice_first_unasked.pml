/* Options that begin with an assignment do not count where others can be asked. */
byte x;
active proctype p() { d_step { if :: x = 5 :: x == 1 -> x = 6 fi; x = x + 1 }; x = 0 }
active proctype q() { x = 1 }
