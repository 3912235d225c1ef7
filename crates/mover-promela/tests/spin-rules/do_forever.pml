byte x;
active [2] proctype p() { do :: x = 1 - x od }
