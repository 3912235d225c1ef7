/* plan: the receiver goes on atomically behind the rendezvous; x is read by R, so nothing of it moves */
byte x; chan r = [0] of { byte };
active proctype P() { r!1 }
active proctype Q() { byte l; atomic { r?l; x = 1 } }
active proctype R() { byte l; l = x }
