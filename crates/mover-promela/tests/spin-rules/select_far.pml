byte x;
active proctype p() { byte i; select (i : 1 .. 40); x = i }
