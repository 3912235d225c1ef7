// expect: safe
// Two processes do not come so far.
// options: --property unreach-call
//
// expect: unsafe unreach-call
// Three do: the number of those that are there from the start grows, too.
// options: --property unreach-call --threads any
byte arrived;

active [2] proctype worker() {
    atomic { arrived++; assert(arrived < 3) }
}
