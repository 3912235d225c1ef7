byte x;
active [2] proctype p() { atomic { do :: x < 3 -> x++ :: else -> break od }; x = 1 }
