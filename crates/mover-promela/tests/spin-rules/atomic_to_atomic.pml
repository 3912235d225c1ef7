byte x;
active [2] proctype p() { atomic { x++; goto next }; skip; next: atomic { x++; x = 0 } }
