// expect: unknown
// message: the ltl formula `p` in line 6 is not checked: it uses one `P` of several without its number, line 6
// message: nor is one other claim
byte x;
active [2] proctype P() { here: x++ }
ltl p { [] (P@here -> <> (x == 2)) }
ltl q { [] x == 2 }
