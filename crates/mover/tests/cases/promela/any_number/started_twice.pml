// expect: unknown
// Each worker alone finds its mark, several do not; with the copies as written there is one of each.
// options: --property unreach-call --threads any
//
// expect: safe
// options: --property unreach-call
byte mark;

proctype worker() {
    mark++;
    assert(mark == 1)
}

init {
    run worker()
}
