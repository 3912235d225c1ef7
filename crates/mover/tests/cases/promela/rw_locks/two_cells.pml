// expect: safe
// A reader-writer lock. The movers that follow from it commute.
// options: --check-movers
// engines: explicit/none,static,phase,dynamic
// object: a protected
// reduces: 5
byte readers; bool writing; byte a, b;
active [2] proctype Reader() { byte x, y;
    atomic { !writing -> readers++ }; x = a; y = b; readers--; assert(x == y)
}
active [2] proctype Writer() { atomic { readers == 0 && !writing -> writing = true }; a++; b++; writing = false }
