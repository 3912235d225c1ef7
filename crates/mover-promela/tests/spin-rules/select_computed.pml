byte x = 2;
active [2] proctype p() { byte i; select (i : x .. x + 2); x = 0 }
