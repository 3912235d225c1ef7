byte x;
active [2] proctype p() { atomic { x++; if :: x > 1 -> goto out :: else fi; x = x + 2 }; out: x-- }
