// expect: unknown
// A trace assertion is not checked, so nothing is proved.
// message: the trace assertion in line 8 is not checked: assertions on the order of messages
// engines: auto explicit/none bmc ic3 token
// expect: safe
// options: --property unreach-call --property no-deadlock
chan c = [1] of { bit };
trace { do :: c!0 od }
active proctype P() { c!0; c?_ }
