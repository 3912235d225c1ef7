// expect: safe
// Access by two elements of an array together.
// engines: explicit/none explicit/phase explicit/dynamic bmc ic3
byte own[2] = 255, x;
/*@ exclusive(x, own[0] == _pid && own[1] == _pid) */
active [2] proctype P() {
    atomic { own[0] == 255 -> own[0] = _pid };
    atomic { own[1] == 255 -> own[1] = _pid };
    x++; assert(x == 1); x--;
    own[1] = 255; own[0] = 255
}
