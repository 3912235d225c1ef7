// expect: unknown
// message: the ltl formula `p` in line 4 is not checked
// engines: auto bmc
ltl p { [] true }
active proctype P() { skip }
