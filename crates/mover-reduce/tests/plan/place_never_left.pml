/* plan: both threads run for ever, so neither is ever past its accesses of x: there is no condition */
byte x;

active proctype P() {
    do
    :: x = 1
    od
}

active proctype Q() {
    do
    :: x = 2
    od
}
