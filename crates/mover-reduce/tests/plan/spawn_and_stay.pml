/* plan: only init starts threads and none ends, so run is a left mover but no right mover */
byte x;
proctype P() { x++; end: false }
init { run P(); run P(); end: false }
