// expect: unsafe claims
// message: the ltl formula `q` in line 15 is violated
// message: claim: the ltl formula `p` in line 14 holds
// message: From step 2 on, only P[0] moves, for ever; Q[1] could do x = 3, but is never
// The program runs for ever, so that `bmc` needs a bound for the other properties.
// options: --depth 20
// engines: auto explicit/none bmc
// expect: safe
// options: --property unreach-call --property no-deadlock
// without: claim:
byte x;
active proctype P() { do :: x = 1 :: x = 2 od }
active proctype Q() { x = 3 }
ltl p { [] (x <= 3) }
ltl q { <> (x == 3) }
