/* A rendezvous hands the exclusive right over to the receiver. */
chan q = [0] of { byte };
byte x;
active proctype p() { atomic { q!1; x = 1; x = 2 } }
active proctype r() { byte y; atomic { q?y; x = x + 4; x = x + 8 }; x = 0 }
active proctype z() { x = 9 }
