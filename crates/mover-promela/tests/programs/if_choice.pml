byte x;
active [2] proctype p() { if :: x = 1 :: x == 0 -> x = 2 :: x == 2 ; x = 3 fi; x = 0 }
