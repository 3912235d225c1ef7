// expect: unknown
// The violation is behind more steps than a thread may have, but within the depth that is asked for.
// options: --depth 1000000
// engines: token
// message: more than 20000 steps
int x; active proctype P() { do :: x++; assert(x != 300000) od }
