byte x;
active proctype p() { x++; if :: x > 1 -> goto inner :: x < 4 -> x = 2 fi; atomic { x++; inner: x = x + 2; x == 3; x = 5 } }
active proctype q() { x = 3 }
