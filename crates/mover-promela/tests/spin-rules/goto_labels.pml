byte x;
active proctype p() { again: x++; if :: x < 3 -> goto again :: else fi; goto out; x = 9; out: x = 0 }
