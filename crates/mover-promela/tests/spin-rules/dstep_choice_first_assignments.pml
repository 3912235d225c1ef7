byte x;
active proctype p() { d_step { if :: x = 5 :: x = 6 fi; x = x + 1 }; d_step { do :: x > 3 -> x-- :: x < 3 -> break :: else -> break od; x = 9 } }
