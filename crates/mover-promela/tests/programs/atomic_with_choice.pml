byte x;
active [2] proctype p() { atomic { if :: x < 2 -> x++ :: x > 0 -> x-- fi }; x = x }
