/* plan: x[i] does not move statically; dynamically it does where the other thread's index differs */
byte x[2];
proctype P(byte i) { x[i] = 1; x[i] = 2 }
init { run P(0); run P(1) }
