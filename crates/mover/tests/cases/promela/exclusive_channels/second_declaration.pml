// expect: unsafe unreach-call
// message: xr assertion violated: a second process declares `c`
// Nobody receives. The declaration is made when a process is created, wherever it stands.
chan c = [1] of { byte };
active [2] proctype P() { skip; xr c; skip }
