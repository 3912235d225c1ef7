// expect: safe
// Of a conjunction the part that excludes others is used; the whole is checked.
// engines: explicit/none,phase,dynamic
// The owner is read by others, so it is no lock; without the claim there are more states.
byte owner = 255, open = 1, x, seen;
/*@ exclusive(x, owner == _pid && open == 1) */
active [2] proctype P() { byte t;
do :: atomic { owner == 255 -> owner = _pid }; t = x; x = t + 1; x = 0; owner = 255 od }
active proctype Watch() { do :: seen = owner od }
