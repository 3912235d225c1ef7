byte x;
active proctype p() { byte mine = 4; x = 1; mine = 5; x == 3 }
active proctype q() { p[0]:mine == 5 -> x = p[0]:mine - 2 }
