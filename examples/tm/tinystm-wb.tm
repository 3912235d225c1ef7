// TinySTM, write-back: locks at the first write, reads a snapshot that is
// extended when something newer is met, writes back at the commit.
//
// Source: Felber, Fetzer, Riegel, "Dynamic performance tuning of word-based
// software transactional memory" (PPoPP 2008). Versions are modelled by what
// others have committed since the snapshot (`newer`) and by whether something
// read is among it (`stale`).

algorithm tinystm_write_back;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom violated;
expect livelock-freedom violated;
expect wait-freedom violated;

thread {
  rs: set of variables;
  ws: set of variables;     // written, and locked for it
  newer: set of variables;  // committed by others since the snapshot
  stale: bool;              // something read is newer than the snapshot
}

predicate locked_by_other(thread t, variable v) = exists u != t: v in ws(u);

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
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
  do write when v in ws(t);
  do lock(v) pending when v not in ws(t) and not locked_by_other(t, v) { ws(t) += {v}; }
}

on commit {
  do commit when ws(t) = {} or not stale(t) {
    for u != t where rs(u) | ws(u) != {} { newer(u) += ws(t); }
    for u != t where rs(u) meets ws(t) { stale(u) := true; }
    reset(t);
  }
}

on abort {
  reset(t);
}
