byte x;
inline wait(n) { byte i; i = 0; again: if :: i < n -> i++; goto again :: else fi }
active proctype p() { wait(1); wait(2); x = 1 }
