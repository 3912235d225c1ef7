// expect: error P031
// message: several_errors.pml:5
// message: several_errors.pml:6
active proctype P() {
  a = 1;
  b = 2
}
