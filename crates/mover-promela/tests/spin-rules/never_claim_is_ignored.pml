byte x;
active proctype p() { x = 1; x = 2 }
never { do :: x != 3 :: else -> break od }
