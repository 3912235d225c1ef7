// expect: unsafe claims
// Two processes send to one channel, so the order of their sends counts.
byte first;
chan q[2] = [2] of { byte };
proctype Send(chan to; byte value) { to!value }
proctype Receive(chan from) { byte got; from?got; first = got; from?got }
init { atomic { run Send(q[0], 1); run Send(q[0], 2); run Receive(q[0]) } }
ltl p { <> [] (first == 1) }
