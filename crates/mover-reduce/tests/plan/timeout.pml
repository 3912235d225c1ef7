/* plan: timeout looks at all threads at once: no movers */
byte x;
active proctype P() { x == 1 }
active proctype Q() { timeout -> x = 1 }
