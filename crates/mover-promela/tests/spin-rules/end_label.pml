byte x;
active proctype p() { end: do :: x == 5 -> x = 0 :: x == 6 -> break od }
active proctype q() { x = 5 }
