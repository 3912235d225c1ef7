// expect: unsafe claims
// From some point on, only Q moves.
byte x;
active proctype P() { do :: x = 1 od }
active proctype Q() { do :: x = 2 od }
never { do :: true :: _last == 1 -> goto accept_q od; accept_q: do :: _last == 1 od }
