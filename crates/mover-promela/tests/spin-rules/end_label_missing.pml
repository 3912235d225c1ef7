byte x;
active proctype p() { do :: x == 5 -> x = 0 od }
