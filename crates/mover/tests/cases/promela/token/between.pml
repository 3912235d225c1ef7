// expect: safe up to
// The second thread has to come between two steps of the first.
// options: --context-bound 0
// engines: token/all
// expect: unsafe unreach-call
// options: --context-bound 1
// engines: token/all
byte x;
active proctype A() { x = 1; assert(x == 1) }
active proctype B() { x = 2 }
