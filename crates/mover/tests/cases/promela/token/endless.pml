// expect: safe up to
// options: --depth 2
// engines: token
// message: safe up to 2 repetitions of loops
byte x; active [2] proctype P() { do :: x++ od }
