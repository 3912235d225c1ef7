/* plan: with priorities any step can hold up others: no movers */
byte x; byte p;
active proctype P() { p = get_priority(_pid); set_priority(_pid, 5); x = 1 }
active proctype Q() { x = 2 }
