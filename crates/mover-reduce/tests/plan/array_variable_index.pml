/* plan: the index is shared, so x[k] may be any cell and does not move */
byte x[2]; byte k;
active proctype P() { x[k] = 1; x[0] = 2 }
active proctype Q() { k = 1; x[1] = 3 }
