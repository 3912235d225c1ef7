/* plan: the atomic sequence may stop before c?l; nothing of it that is shared moves */
byte x; byte y; chan c = [1] of { byte };
active proctype P() { y = 1; c!1 }
active proctype Q() { byte l; atomic { y == 1 -> x = 1; c?l; x = 0 } }
active proctype R() { byte l; l = x }
