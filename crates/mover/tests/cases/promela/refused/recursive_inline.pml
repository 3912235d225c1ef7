// expect: error P020
// message: inline `f` calls itself
inline f() { f() }
active proctype P() {
  f()
}
