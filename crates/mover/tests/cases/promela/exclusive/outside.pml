// expect: unsafe unreach-call
// An access without the predicate is told, and no error is missed.
// engines: explicit/phase
// message: `x` is also used where this does not hold
byte owner = 255, x, seen;
/*@ exclusive(x, owner == _pid) */
active [2] proctype P() { byte t;
do :: atomic { owner == 255 -> owner = _pid }; t = x; x = t + 1; x = 0; owner = 255 od }
active proctype Watch() { do :: seen = owner; assert(x == 0) od }
