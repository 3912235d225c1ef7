byte x;
proctype q() { skip }
init { x = 1 + run q(); if :: run q() > 0 fi; byte y = run q() }
