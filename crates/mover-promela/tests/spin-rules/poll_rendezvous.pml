/* Looking for a message in a channel that keeps none is an error. */
chan q = [0] of { byte };
byte x;
active proctype p() { if :: q?[_] -> x = 1 :: x == 1 -> x = 2 fi }
active proctype s() { x = 1 }
