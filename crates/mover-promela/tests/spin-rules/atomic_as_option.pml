byte x;
active [2] proctype p() { do :: atomic { x < 3 -> x++; x = x + 1 } :: atomic { x >= 3; break } od }
