// expect: safe
// A reader-writer lock. The movers that follow from it commute.
// options: --check-movers
// engines: explicit/none,static,phase,dynamic
// object: a protected
// reduces: 5
byte readers, writer; byte a, b;
active [2] proctype Reader() { byte x, y;
    atomic { writer == 0 -> readers++ }; x = a; y = b; readers = readers - 1; assert(x == y)
}
active [2] proctype Writer() { atomic { writer == 0 && readers == 0 -> writer = _pid + 1 }; a++; b++; atomic { assert(writer == _pid + 1); writer = 0 } }
