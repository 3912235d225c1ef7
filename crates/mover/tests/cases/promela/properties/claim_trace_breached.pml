// expect: unsafe claims
// The second message is one that the trace does not allow.
// message: the trace assertion in line 7 is violated
// engines: auto explicit/none bmc ic3 token
chan c = [1] of { bit };
active proctype P() { c!0; c?_; c!1 }
trace { do :: c!0 od }
