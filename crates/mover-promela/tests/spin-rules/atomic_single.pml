byte x;
active [2] proctype p() { atomic { x++ }; atomic { x-- } }
