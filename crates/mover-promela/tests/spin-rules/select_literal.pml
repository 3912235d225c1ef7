byte x;
active [2] proctype p() { byte i; select (i : 1 .. 3); x = i }
