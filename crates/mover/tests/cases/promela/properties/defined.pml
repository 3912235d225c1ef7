// expect: safe
// Macros of the command line reach the model.
// options: -DN=4
// expect: unsafe unreach-call
// options: -DN=5
// expect: error P031
// message: N
active proctype P() { assert(N == 4) }
