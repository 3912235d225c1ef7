byte x;
active [2] proctype p() { do :: d_step { if :: x == 0 -> x = 1 :: x < 2 -> x = 2 fi; x = x + 1 } :: x > 2 -> break od; x = 0 }
