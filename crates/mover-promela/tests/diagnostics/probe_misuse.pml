chan q = [1] of { byte };
byte x;
active proctype p() { if :: !full(q) :: x == empty(q) :: nempty(q) && x == 1 fi }
