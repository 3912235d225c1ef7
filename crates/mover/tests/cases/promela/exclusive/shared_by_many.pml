// expect: unsafe unreach-call
// Started in a loop, so that there may be 255 processes: the predicate holds for all of them.
// engines: explicit/none explicit/phase explicit/dynamic
// message: `x` is accessed while `busy == ready` holds for another thread
bool busy, ready; byte x;
/*@ exclusive(x, busy == ready) */
proctype P() { x++ }
init { byte i; do :: i < 2 -> run P(); i++ :: else -> break od }
