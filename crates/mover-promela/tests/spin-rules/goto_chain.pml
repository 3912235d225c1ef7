byte x;
active proctype p() { goto a; b: goto c; a: x = 1; goto b; c: x = 2 }
