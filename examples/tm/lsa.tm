// LSA: a lazy snapshot. A read of something newer than the snapshot extends the
// snapshot if nothing read so far has changed; the write set is locked, and the
// read set validated, at the commit.
//
// Source: Riegel, Felber, Fetzer, "A lazy snapshot algorithm with eager
// validation" (DISC 2006), with one version of each variable.

algorithm lsa;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom violated;
expect livelock-freedom violated;
expect wait-freedom violated;

thread {
  rs, ws: set of variables;
  ls: set of variables;     // locked
  newer: set of variables;  // committed by others since the snapshot
  stale: bool;              // something read is newer than the snapshot
}

predicate locked_by_other(thread t, variable v) = exists u != t: v in ls(u);

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  ls(u) := {};
  newer(u) := {};
  stale(u) := false;
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) | newer(t) and not locked_by_other(t, v) { rs(t) += {v}; }
  do extend pending when v in newer(t) \ ws(t) and not locked_by_other(t, v) and not stale(t) {
    newer(t) := {};
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do lock(x) pending when x in ws(t) \ ls(t) and not locked_by_other(t, x) { ls(t) += {x}; }
  do commit when ws(t) = ls(t) and (ws(t) = {} or not stale(t)) {
    for u != t where rs(u) | ws(u) != {} { newer(u) += ws(t); }
    for u != t where rs(u) meets ws(t) { stale(u) := true; }
    reset(t);
  }
}

on abort {
  reset(t);
}
