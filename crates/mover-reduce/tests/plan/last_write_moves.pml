/* plan: x does not move statically; dynamically each write moves where the other thread is past its last write */
byte x; byte a;
active proctype P() { x = 1; a = 1; a = 2 }
active proctype Q() { x = 2; x = 3 }
