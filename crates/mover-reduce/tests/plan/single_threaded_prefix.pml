/* plan: what init does before it starts P moves both ways although P touches the same, x = 3 behind the run does not; transactions do not know of it and commit at each step */
byte x; byte y;
proctype P() { x++; y++ }
init { x = 1; y = 2; run P(); x = 3 }
