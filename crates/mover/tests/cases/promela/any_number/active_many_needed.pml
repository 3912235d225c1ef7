// expect: safe
// Eight processes do not come so far; more than are tried do.
// options: --property unreach-call
//
// expect: unknown
// options: --property unreach-call --threads any
// message: no proof for any number of threads
byte arrived;

active [8] proctype worker() {
    atomic { arrived < 9 -> arrived++; assert(arrived < 9) }
}
