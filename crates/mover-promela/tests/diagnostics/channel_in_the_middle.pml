byte x;
active proctype p() { x = 1; chan c = [1] of { byte }; byte a[2] = { 1, 2 } }
