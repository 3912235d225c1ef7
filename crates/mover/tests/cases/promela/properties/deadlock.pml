// expect: unsafe no-deadlock
// A property is checked alone if it is asked alone.
// expect: safe
// options: --property unreach-call
// message: safe: no assertion can fail
chan c = [0] of { byte };
active proctype P() {
    c!1
}
