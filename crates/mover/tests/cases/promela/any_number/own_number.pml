// expect: unknown
// Who compares the number of its process with a constant is told apart by it.
// options: --property unreach-call --threads any
// message: proofs for any number of threads do not take this program
byte x;

active [2] proctype worker() {
    if
    :: _pid == 1 -> x++; assert(x == 1)
    :: else
    fi
}
