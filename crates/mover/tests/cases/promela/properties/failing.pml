// expect: unsafe unreach-call
// A property is checked alone if it is asked alone.
// expect: safe
// options: --property no-deadlock
// message: safe: no deadlock is reachable
byte x;
active proctype P() {
    x = 1;
    assert(x == 0)
}
