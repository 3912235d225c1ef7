byte x;
active proctype p() { if :: if :: x == 1 :: else fi :: else fi }
