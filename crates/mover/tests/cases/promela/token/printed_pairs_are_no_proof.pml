// expect: unknown
// Without a violation `--pairs mat-printed` is no reason to say `safe`: Theorem 4 of Ganai and
// Kundu (2009) is false. For these threads the printed pairs lose the runs in which both readers
// see x before and after it is written, one after the other.
// engines: token/mat-printed
// expect: safe
// engines: token/all,mat,lex
byte x;

active proctype A() { x = 1 }

active [2] proctype Reader() {
  byte first, second;
  first = x;
  second = x;
  assert(first <= second)
}
