byte x;
active proctype p() { if :: x = 1 unless x == 2 :: x = 3 fi }
