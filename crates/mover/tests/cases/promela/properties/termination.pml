// expect: unsafe termination
// options: --property termination
// message: a run never ends
// message: From step 2 on, only Q[1] moves, for ever
// expect: safe
// options: --property termination -DENDS
// A scheduler that never lets P run does not count.
bool done;
active proctype P() {
#ifdef ENDS
  done = true
#else
  skip
#endif
}
active proctype Q() { do :: !done -> skip :: done -> break od }
