// Optimistic concurrency control as in databases: read and write privately,
// validate once, at the commit, against what others have committed meanwhile.
// Committed transactions are serializable; one that is going to fail may still
// read an inconsistent state before it finds out, so it is not opaque.
//
// Source: Kung, Robinson, "On optimistic methods for concurrency control"
// (ACM TODS 1981), backward validation; validation and write phase are one
// atomic step.

algorithm occ;

expect strict-serializability holds;
expect opacity violated;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom holds;
expect livelock-freedom holds;
expect wait-freedom violated;

thread {
  rs, ws: set of variables;
  stale: bool;  // something read has been overwritten since
}

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  stale(u) := false;
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) { rs(t) += {v}; }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when not stale(t) {
    for u != t where rs(u) meets ws(t) { stale(u) := true; }
    reset(t);
  }
}

on abort {
  reset(t);
}
