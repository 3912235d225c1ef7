/* plan: a write with only the read side held is not protected, so x does not move */
short rw; byte x;
active [2] proctype Reader() {
  atomic { rw >= 0 -> rw++ };
  x++;
  rw--
}
active proctype Writer() {
  atomic { rw == 0 -> rw = -1 };
  x = 1;
  rw = 0
}
