// expect: safe
// Three processes that are there from the start stand for any number of them.
// options: --property unreach-call --threads any
// message: for any number of threads
bool locked;
byte inside;

active [3] proctype worker() {
    atomic { !locked -> locked = true };
    inside++;
    assert(inside == 1);
    inside--;
    locked = false
}
