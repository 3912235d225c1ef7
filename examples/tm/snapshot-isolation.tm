// A snapshot-isolation store: a transaction reads one snapshot and commits
// unless somebody else has committed a write to the same variable since (first
// committer wins). What it read is not validated, which lets write skew
// through. A store with one version: a read of something newer than the
// snapshot aborts instead of returning the old version.
//
// Source: Berenson, Bernstein, Gray, Melton, O'Neil, O'Neil, "A critique of
// ANSI SQL isolation levels" (SIGMOD 1995).

algorithm snapshot_isolation;

expect strict-serializability violated;
expect opacity violated;
expect serializability violated;
expect snapshot-isolation holds;
expect obstruction-freedom holds;
expect livelock-freedom holds;
expect wait-freedom violated;

thread {
  rs, ws: set of variables;
  newer: set of variables;  // committed by others since the snapshot
}

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  newer(u) := {};
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) | newer(t) { rs(t) += {v}; }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when not ws(t) meets newer(t) {
    for u != t where rs(u) | ws(u) != {} { newer(u) += ws(t); }
    reset(t);
  }
}

on abort {
  reset(t);
}
