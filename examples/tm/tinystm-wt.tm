// TinySTM, write-through: as tinystm-wb.tm, but writes go to the memory at
// once and an abort writes the old values back. A new incarnation number makes
// that visible to readers; without it a transaction could read a variable
// before the write and again after the abort.
//
// Source: Felber, Fetzer, Riegel, "Dynamic performance tuning of word-based
// software transactional memory" (PPoPP 2008).
//
// Opacity is reported as violated: with direct update a write counts when it
// is executed, even if its transaction is going to abort, so two unfinished
// transactions that each write what the other has read are already in conflict
// both ways. Neither will commit with the other, and no wrong value is read;
// the notion of conflict is too coarse for that.

algorithm tinystm_write_through;

update direct;

expect strict-serializability holds;
expect opacity violated;
expect serializability holds;
expect obstruction-freedom violated;
expect livelock-freedom violated;
expect wait-freedom violated;

thread {
  rs: set of variables;
  ws: set of variables;     // written, and locked for it
  newer: set of variables;  // changed by others since the snapshot
  stale: bool;              // something read is newer than the snapshot
}

predicate locked_by_other(thread t, variable v) = exists u != t: v in ws(u);

// Gives the variables that t has written a new version.
procedure release(thread t) {
  for u != t where rs(u) | ws(u) != {} { newer(u) += ws(t); }
  for u != t where rs(u) meets ws(t) { stale(u) := true; }
  rs(t) := {};
  ws(t) := {};
  newer(t) := {};
  stale(t) := false;
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
  // A lock on something newer than the snapshot is worth nothing if it was read.
  do lock(v) pending when v not in ws(t) and not locked_by_other(t, v)
      and (v not in newer(t) or not stale(t)) {
    ws(t) += {v};
  }
}

on commit {
  do commit when ws(t) = {} or not stale(t) { release(t); }
}

on abort {
  release(t);
}
