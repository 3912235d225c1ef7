mtype = { red, green };
byte x;
active proctype p() { printf("x is %d\n", x); x = 1; printm(red); printf("%e\n", green) }
