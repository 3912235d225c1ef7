byte x;
active proctype p() { do :: false -> x = 9 :: x < 2 -> x++ :: else -> break od }
