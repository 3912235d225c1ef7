// expect: safe
// Processes that init starts in a loop, beside itself; the limit of 255 is not to be met.
// options: --property unreach-call --threads any
// message: for any number of threads
bool locked;
byte inside;

proctype worker() {
    atomic { !locked -> locked = true };
    inside++;
    assert(inside == 1);
    inside--;
    locked = false
}

init {
    do
    :: run worker()
    od
}
