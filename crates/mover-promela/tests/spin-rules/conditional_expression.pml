byte x = 3;
active proctype p() { byte y; y = (x > 2 -> x : 1); x = (y == 3 -> (x == 0 -> 7 : 8) : 9) }
