byte x;
active [2] proctype p() { atomic { x++; x++; x = x * 2 }; x-- }
