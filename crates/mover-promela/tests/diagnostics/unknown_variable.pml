byte turn;
active proctype p() {
    trun = 1;
    flag[0] = turn + nothing
}
