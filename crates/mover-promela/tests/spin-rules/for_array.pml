byte a[3]; byte x;
active proctype p() { byte i; for (i in a) { a[i] = i + 1 }; x = a[0] + a[1] * a[2] }
