proctype q() { skip }
init { d_step { skip; run q() } }
