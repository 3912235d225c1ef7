// expect: safe
// Three processes that take two seats, and lose the index of the first on the way. Cells that name
// their owners are locks.
// options: --check-movers
// engines: explicit/none,phase,dynamic
// object: seat lock
// reduces: 3
byte seat[3]; byte meals[3];
active [3] proctype P() {
    byte l = _pid % 3, k = (_pid + 1) % 3, t;
    if :: l > k -> t = l; l = k; k = t :: else fi; t = 0;
    atomic { seat[l] == 0 -> seat[l] = _pid + 1 };
    atomic { seat[k] == 0 -> seat[k] = _pid + 1 };
    t = l; l = k; k = t;
    meals[k]++; assert(seat[l] == _pid + 1);
    atomic { seat[l] == _pid + 1 -> seat[l] = 0 };
    atomic { seat[k] == _pid + 1 -> seat[k] = 0 }
}
