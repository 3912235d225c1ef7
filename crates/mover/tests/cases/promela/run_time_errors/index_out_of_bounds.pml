// expect: unsafe unreach-call
// message: index out of bounds
// message: index_out_of_bounds.pml:7
byte a[3], i;
active proctype P() {
  i = 3;
  a[i] = 1
}
