// expect: safe
// Three processes do not come so far, four do.
// options: --property unreach-call
//
// expect: unknown
// options: --property unreach-call --threads any
// message: no proof for any number of threads
byte arrived;

active [3] proctype worker() {
    atomic { arrived < 4 -> arrived++; assert(arrived < 4) }
}
