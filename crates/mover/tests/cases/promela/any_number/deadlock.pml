// expect: safe
// Some process can always move: who holds the lock, or who wants it.
// options: --threads any
// message: no deadlock is reachable for any number of threads
byte owner;
byte inside;

active [2] proctype worker() {
    do
    :: atomic { owner == 0 -> owner = _pid + 1 };
       inside++;
       assert(inside == 1);
       inside--;
       owner = 0
    od
}
