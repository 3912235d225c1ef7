// expect: unsafe unreach-call
// An error is an error, whatever else is claimed.
// engines: auto explicit/none bmc ic3
ltl p { [] true }
active proctype P() { assert(false) }
