// expect: unsafe unreach-call
// A property is checked alone if it is asked alone.
// options: --property unreach-call
// expect: unsafe no-deadlock
// options: --property no-deadlock
byte x;
active proctype P() {
    x = 1;
    assert(x == 0)
}
chan c = [0] of { byte };
active proctype Q() { c!1 }
