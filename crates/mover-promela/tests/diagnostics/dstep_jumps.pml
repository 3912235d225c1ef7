byte x;
active proctype p() {
    out: x = 1;
    d_step { x = 2; goto out; inside: x = 3 };
    goto inside
}
