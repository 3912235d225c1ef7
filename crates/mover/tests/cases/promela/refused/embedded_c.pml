// expect: error P003
// message: embedded C
// message: embedded_c.pml:5
active proctype P() {
  c_code { x = 1; }
}
