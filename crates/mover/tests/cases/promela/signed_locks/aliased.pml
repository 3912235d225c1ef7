// expect: unsafe unreach-call
// The index of what is released looks different from that of what was taken, but it is the same
// cell, so afterwards nothing is protected any more.
// engines: explicit/none,static,phase,dynamic
// object: seat lock
byte seat[2]; byte x;
active [2] proctype P() { byte l, k, t;
atomic { seat[l] == 0 -> seat[l] = _pid + 1 };
k = l;
atomic { seat[k] == _pid + 1 -> seat[k] = 0 };
t = x; x = t + 1; assert(x == t + 1) }
