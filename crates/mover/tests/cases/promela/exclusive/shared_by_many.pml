// expect: unknown
// Started in a loop, so that there may be 255 processes: for so many it is not checked whether the predicate
// holds for another one.
// engines: explicit/none explicit/phase explicit/dynamic
// message: whether `busy == ready` holds for another of 255 threads is not checked
bool busy, ready; byte x;
/*@ exclusive(x, busy == ready) */
proctype P() { x++ }
init { byte i; do :: i < 2 -> run P(); i++ :: else -> break od }
