// expect: unsafe unreach-call
// message: division by zero
// message: remainder_by_zero.pml:6
int x, y;
active proctype P() {
  y = 5 % x
}
