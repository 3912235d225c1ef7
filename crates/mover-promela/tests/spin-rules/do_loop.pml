byte x;
active [2] proctype p() { do :: x < 4 -> x++ :: x == 4 -> break od; x = 0 }
