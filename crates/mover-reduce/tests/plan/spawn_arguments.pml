/* plan: the argument k is read for the new thread; k is written before the first run only */
byte k; byte x;
proctype P(byte l) { x = l; x = 0 }
init { k = 1; run P(k); run P(k + 1) }
