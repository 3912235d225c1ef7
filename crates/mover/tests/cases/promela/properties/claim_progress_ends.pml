// expect: safe
// A run that ends makes no progress, and need not.
byte x;
active proctype P() { progress: x = 1; x = 2 }
