byte x;
active proctype p() { if :: x == 0 -> goto done :: x = 1 fi; x = 2; done: }
