// expect: unsafe unreach-call
// An access without the predicate is a violation with a run, for every engine.
// engines: explicit/none explicit/phase explicit/dynamic bmc ic3
// message: `x` is accessed while `owner == _pid` does not hold
byte owner = 255, x, seen;
/*@ exclusive(x, owner == _pid) */
active [2] proctype P() { byte t;
do :: atomic { owner == 255 -> owner = _pid }; t = x; x = t + 1; x = 0; owner = 255 od }
active proctype Watch() { do :: seen = owner; seen = x od }
