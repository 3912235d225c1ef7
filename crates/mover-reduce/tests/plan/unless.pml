/* plan: a = 1 is P's own but waits for stop to be false, which Q writes: it does not move */
bool stop; byte a;
active proctype P() { { a = 1; a = 2 } unless { stop } }
active proctype Q() { stop = true }
