byte x; byte y;
active proctype p() { do :: x < 2 -> do :: y < 2 -> y++ :: else -> break od; x++; y = 0 :: else -> break od }
