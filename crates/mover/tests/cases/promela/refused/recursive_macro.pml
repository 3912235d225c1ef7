// expect: error P020
// message: recursive_macro.pml:6
#define A A B
#define B A
active proctype P() {
  A
}
