// expect: error P040
// A predicate that others can change is refused with the statement, if the reduction would use it.
// engines: explicit/phase
// message: turn.pml:11
// message: turn = 1 - _pid
// message: process 0
// message: process 1
// expect: safe
// engines: explicit/none
byte turn, x;
//@ exclusive(x, turn == _pid)
active [2] proctype P() { do :: turn == _pid; x++; x--; turn = 1 - _pid od }
