chan q = [1] of { byte };
byte x;
active proctype p() { if :: q?x -> x = x + 1 :: else -> x = 10 fi; if :: q!3 :: else -> x = 11 fi }
active proctype s() { q!5; q?_ }
