active proctype p() {
    byte x;
    x = ;
    x = 1 +;
    if :: x == 1 -> x = 2
    fi;
    goto 5;
    x = 3
}
active proctype q( {
    skip
}
init { run q() }
