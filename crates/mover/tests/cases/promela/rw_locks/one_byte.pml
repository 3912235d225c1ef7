// expect: safe
// A reader-writer lock. The movers that follow from it commute.
// options: --check-movers
// engines: explicit/none,static,phase,dynamic
// object: a protected
// reduces: 5
byte rw; byte a, b;
active [2] proctype Reader() { byte x, y;
    atomic { rw != 255 -> rw++ }; x = a; y = b; rw--; assert(x == y)
}
active [2] proctype Writer() { atomic { rw == 0 -> rw = 255 }; a++; b++; rw++ }
