byte x;
active proctype p() { do :: x < 3 -> x++ :: atomic { else -> x = 9; break } od }
