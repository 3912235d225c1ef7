/* Being able to receive a rendezvous does not prevent the else. */
chan q = [0] of { byte };
byte x;
active proctype p() { if :: q?x -> x = 1 :: else -> x = 10 fi }
active proctype s() { if :: q!5 -> x = 3 :: else -> x = 4 fi; if :: q!6 :: true fi }
