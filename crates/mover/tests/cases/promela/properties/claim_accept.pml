// expect: unknown
// message: the accept label `accept_here` in line 5 is not checked
// engines: auto bmc
bit x;
active proctype P() { accept_here: skip }
