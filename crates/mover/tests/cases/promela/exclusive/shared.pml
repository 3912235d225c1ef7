// expect: error P040
// A predicate of several processes or of another form is refused.
// engines: explicit/phase
// message: holds for the processes 0 and 1
byte owner = 255, x, seen;
/*@ exclusive(x, owner == 255) */
active [2] proctype P() { byte t;
do :: atomic { owner == 255 -> owner = _pid }; t = x; x = t + 1; x = 0; owner = 255 od }
active proctype Watch() { do :: seen = owner od }
