/* A bit that is all of a message is kept in a byte. */
chan one = [2] of { bit };
chan meets = [0] of { bool };

active proctype sender() {
    int got;
    one!3;
    one!259;
    assert(one?[3]);
    one?got;
    assert(got == 3);
    one?<got>;
    assert(got == 3);
    meets!2
}

active proctype receiver() {
    int got;
    meets?got;
    assert(got == 2)
}
