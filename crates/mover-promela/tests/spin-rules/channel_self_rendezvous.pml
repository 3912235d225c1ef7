/* No rendezvous with oneself. */
chan q = [0] of { byte };
active proctype p() { if :: q!1 :: q?_ fi }
