byte x;
active proctype other() { x = 9 }
active proctype p() { byte mine; x = 1; here: x = 2; mine = 5 }
active proctype q() { p@here -> x = 7; p:mine == 5 -> x = p:mine }
