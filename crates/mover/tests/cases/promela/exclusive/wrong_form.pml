// expect: unsafe unreach-call
// A predicate that does not say which process has access is checked, but no reduction uses it: it
// holds for another process, too.
// engines: explicit/none explicit/phase bmc ic3
// message: `x` is accessed while `owner == seen` holds for another thread
byte owner = 255, x, seen;
/*@ exclusive(x, owner == seen) */
active [2] proctype P() { byte t;
do :: atomic { owner == 255 -> owner = _pid }; t = x; x = t + 1; x = 0; owner = 255 od }
active proctype Watch() { do :: seen = owner od }
