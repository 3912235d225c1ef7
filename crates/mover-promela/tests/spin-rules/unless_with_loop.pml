byte x;
active proctype p() { do :: x < 4 -> x++ od unless { x == 3 -> x = 7 } }
active proctype q() { x = 3 }
