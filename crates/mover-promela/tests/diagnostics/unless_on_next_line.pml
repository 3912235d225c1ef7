byte x;
active proctype p() {
    if :: x = 1 fi
    unless x == 2
}
