/* plan: two threads start others, the number of a new thread depends on who is first: run does not move */
byte x;
proctype P() { x++; end: false }
active [2] proctype Q() { run P(); end: false }
