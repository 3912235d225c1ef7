// A multi-version store: a transaction reads the versions that were current at
// its begin, and an update commits unless a variable that it wrote has got a
// newer version since (first committer wins). Read-only transactions never
// abort. That is snapshot isolation: write skew gets through.
//
// Source: Berenson, Bernstein, Gray, Melton, O'Neil, O'Neil, "A critique of
// ANSI SQL isolation levels" (SIGMOD 1995), Section 4.2; the timestamps are
// those of Reed, "Naming and synchronization in a decentralized computer
// system" (1978).

algorithm mvcc;

expect snapshot-isolation holds;
expect serializability violated;
expect strict-serializability violated;
expect opacity violated;
expect obstruction-freedom holds;
expect livelock-freedom holds;

global {
  clock: time;
}

variable {
  newest: time;  // when the newest version was committed
}

thread {
  start: time;
  ws: set of variables;
}

on begin {
  do begin { start(t) := clock; }
}

on begin_read_only {
  do begin_read_only { start(t) := clock; }
}

on read(v) {
  do read when v in ws(t);
  do old_read when v not in ws(t);
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when forall x in ws(t): newest(x) <= start(t) {
    if ws(t) != {} { clock += 1; }
    for x in ws(t) { newest(x) := clock; }
    start(t) := 0;
    ws(t) := {};
  }
}

on abort {
  start(t) := 0;
  ws(t) := {};
}
