// expect: safe
// Two processes are started in one step, which counts as several for any number of them.
// options: --property unreach-call --threads any
// message: for any number of threads
mtype = { none, first };
mtype leader = none;
byte leaders;

proctype candidate() {
    atomic { leader == none -> leader = first };
    leaders++;
    assert(leaders == 1)
}

init {
    atomic { run candidate(); run candidate() }
}
