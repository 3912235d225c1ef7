byte x;
active [2] proctype p() { atomic { x++; d_step { x++; x++ }; x = 0 } }
