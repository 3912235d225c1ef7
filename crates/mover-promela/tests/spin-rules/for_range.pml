byte x;
active [2] proctype p() { byte i; for (i : 1 .. 3) { x = x + i } ; x = i }
