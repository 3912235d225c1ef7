byte x;
active proctype p() { byte i; for (i : 1 .. 5) { if :: i == 3 -> break :: else -> x = i fi } }
