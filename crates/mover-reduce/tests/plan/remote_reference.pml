/* plan: Q asks where P is and what its l holds, so P's steps do not move */
byte a;
active proctype P() { byte l; l = 1; here: l = 2 }
active proctype Q() { P@here; a = P:l; a = 0 }
