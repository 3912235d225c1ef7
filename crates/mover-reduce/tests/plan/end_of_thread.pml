/* plan: the end of P is seen by _nr_pr, so neither it nor the look moves */
byte a;
active proctype P() { a = 1 }
active proctype Q() { _nr_pr == 1 }
