byte x;
active proctype p() { byte i; again: for (i : 1 .. 2) { x++ }; if :: x < 4 -> i = 1; goto again :: else fi }
