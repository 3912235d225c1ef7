// expect: unsafe no-deadlock
// Deadlocks of readers and writers are found.
// engines: explicit/none,static,phase,dynamic
short p, q;
active proctype A() { atomic { p >= 0 -> p++ }; atomic { q == 0 -> q = -1 }; q = 0; p-- }
active proctype B() { atomic { q >= 0 -> q++ }; atomic { p == 0 -> p = -1 }; p = 0; q-- }
