// expect: unknown
// message: the progress label `progress` in line 5 is not checked
// engines: auto bmc
bit x;
active proctype P() { progress: skip }
