byte x;
active proctype p() { do :: x == 1; end1: x == 2 -> x = 3 :: x < 1 -> x = 1 od }
