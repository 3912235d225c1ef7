/* plan: rw is a reader-writer lock; reads under the read side and writes under the write side move both ways */
short rw; byte x;
active [2] proctype Reader() {
  byte l;
  atomic { rw >= 0 -> rw++ };
  l = x;
  rw--
}
active proctype Writer() {
  atomic { rw == 0 -> rw = -1 };
  x = 1;
  rw = 0
}
