/* plan: the send would interrupt x = 1, so the step to the receive is no left mover */
byte x; byte y; chan s = [0] of { byte };
active proctype P() { y == 1; { x = 1; x = 2 } unless { s!1 } }
active proctype Q() { byte l; y = 1; l = 3; s?l }
