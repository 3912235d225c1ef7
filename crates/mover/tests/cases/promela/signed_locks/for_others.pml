// expect: unsafe no-deadlock
// The cells do not quite name their owners. Takes a seat for somebody else.
// engines: explicit/none,static,phase,dynamic
// object: seat unprotected
byte seat[3]; byte meals[3];
active [3] proctype P() {
    byte l = _pid % 3, k = (_pid + 1) % 3, t;
    if :: l > k -> t = l; l = k; k = t :: else fi; t = 0;
    atomic { seat[l] == 0 -> seat[l] = _pid + 1 };
    atomic { seat[k] == 0 -> seat[k] = 2 - _pid };
    t = l; l = k; k = t;
    meals[k]++; skip;
    atomic { seat[l] == _pid + 1 -> seat[l] = 0 };
    atomic { seat[k] == _pid + 1 -> seat[k] = 0 }
}
