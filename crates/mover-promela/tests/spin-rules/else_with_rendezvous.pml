/* A possible rendezvous does not prevent the else. */
chan q = [0] of { byte };
byte x;
active proctype p() { if :: q!3 -> x = 1 :: x == 7 -> x = 2 :: else -> x = 10 fi }
active proctype s() { byte y; if :: q?y -> x = x + y :: x == 1 -> x = 7 :: else -> x = 20 fi }
