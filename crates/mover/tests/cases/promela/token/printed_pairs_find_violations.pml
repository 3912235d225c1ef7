// expect: unsafe unreach-call
// engines: token/all,mat,mat-printed,lex
byte x;

active proctype A() { x = 1 }

active [2] proctype Reader() {
  byte first, second;
  first = x;
  second = x;
  assert(first == second)
}
