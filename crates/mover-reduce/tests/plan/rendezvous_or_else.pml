/* plan: `else` beside the send sees that no offer was made, so the step to the receive is no left mover */
byte y; chan s = [0] of { byte };
active proctype P() { y == 1; if :: s!1 :: else -> skip fi }
active proctype Q() { byte l; y = 1; l = 3; s?l }
