/* A bit among other fields is a bit, that of an array, too. */
typedef Row { bit cells[2] };
chan pairs = [1] of { bit, byte };
chan rows = [1] of { Row };
Row sent, got;

active proctype sender() {
    int bits;
    pairs!3,7;
    pairs?bits,_;
    assert(bits == 1);
    sent.cells[0] = 2;
    sent.cells[1] = 3;
    rows!sent;
    rows?got;
    assert(got.cells[0] == 0 && got.cells[1] == 1)
}
