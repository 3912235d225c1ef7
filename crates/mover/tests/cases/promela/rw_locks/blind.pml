// expect: unsafe unreach-call
// Not quite a reader-writer lock: readers do not wait for writers.
// engines: explicit/none,static,phase,dynamic
// object: a unprotected
short rw; byte a, b;
active [2] proctype Reader() { byte x, y;
    rw++; x = a; y = b; rw--; assert(x == y)
}
active [2] proctype Writer() { atomic { rw == 0 -> rw = -1 }; a++; b++; rw = 0 }
