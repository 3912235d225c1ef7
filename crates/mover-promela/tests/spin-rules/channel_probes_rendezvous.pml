chan q = [0] of { byte };
byte x;
active proctype s() { if :: full(q) -> x = 1 :: nfull(q) -> x = 2 :: empty(q) -> x = 3 :: nempty(q) -> x = 4 :: len(q) > 0 -> x = 5 fi }
active proctype r() { if :: q!1 :: x > 0 fi }
