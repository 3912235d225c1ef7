// expect: safe
// Not quite a reader-writer lock: somebody looks from outside.
// engines: explicit/none,static,phase,dynamic
// object: a unprotected
short rw; byte a, b;
active [2] proctype Reader() { byte x, y;
    if :: atomic { rw >= 0 -> rw++ } :: else -> goto end fi; x = a; y = b; rw--; end: skip; assert(x == y)
}
active [2] proctype Writer() { atomic { rw == 0 -> rw = -1 }; a++; b++; rw = 0 }
