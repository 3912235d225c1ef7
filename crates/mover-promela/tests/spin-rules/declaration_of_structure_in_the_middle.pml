typedef T { byte a; byte b = 3 };
byte x;
active proctype p() { x = 1; T t; x = t.b; t.a = x }
