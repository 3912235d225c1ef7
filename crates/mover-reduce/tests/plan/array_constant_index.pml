/* plan: x[0] is P's, x[1] is Q's: cells told apart by constants move */
byte x[2];
active proctype P() { x[0] = 1; x[0]++ }
active proctype Q() { x[1] = 1; x[1]++ }
