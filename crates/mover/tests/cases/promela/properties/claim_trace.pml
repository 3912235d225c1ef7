// expect: safe
// All messages that are sent to `c` are 0, as the trace wants; what is received is not read.
// engines: auto explicit/none bmc ic3 token
chan c = [1] of { bit };
trace { do :: c!0 od }
active proctype P() { c!0; c?_ }
