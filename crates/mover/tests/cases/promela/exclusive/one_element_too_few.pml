// expect: unsafe unreach-call
// Access by two elements of an array together, one of which is given back too early.
// engines: explicit/none explicit/phase explicit/dynamic bmc ic3
// message: `x` is accessed while `own[0] == _pid && own[1] == _pid` does not hold
byte own[2] = 255, x;
/*@ exclusive(x, own[0] == _pid && own[1] == _pid) */
active [2] proctype P() {
    atomic { own[0] == 255 -> own[0] = _pid };
    atomic { own[1] == 255 -> own[1] = _pid };
    x++; assert(x == 1); x--;
    own[1] = 255; x = 0; own[0] = 255
}
