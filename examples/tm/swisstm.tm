// SwissTM in outline: conflicts between writers are found eagerly (a write lock
// at the first write, which a contention manager may take from its owner),
// conflicts between readers and writers lazily (a write-locked variable can be
// read until its owner begins to commit).
//
// Source: Dragojević, Guerraoui, Kapałka, "Stretching transactional memory"
// (PLDI 2009).

algorithm swisstm;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom with polite violated;
expect obstruction-freedom with aggressive violated;

thread {
  status: { active, committing, aborted };
  rs: set of variables;
  ws: set of variables;     // written, and locked against other writers
  newer: set of variables;  // committed by others since the snapshot
  stale: bool;              // something read is newer than the snapshot
}

predicate closed_by_other(thread t, variable v) =
    exists u != t: status(u) = committing and v in ws(u);

procedure reset(thread u) {
  status(u) := active;
  rs(u) := {};
  ws(u) := {};
  newer(u) := {};
  stale(u) := false;
}

require status(t) != aborted;

conflict write(v) when not closed_by_other(t, v) and (exists u != t: v in ws(u));

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) | newer(t) and not closed_by_other(t, v) { rs(t) += {v}; }
  do extend pending when v in newer(t) \ ws(t) and not closed_by_other(t, v) and not stale(t) {
    newer(t) := {};
  }
}

on write(v) {
  do write when v in ws(t);
  do wlock(v) pending when v not in ws(t) and not closed_by_other(t, v) {
    for u != t where v in ws(u) {
      reset(u);
      status(u) := aborted;
    }
    ws(t) += {v};
  }
}

on commit {
  do commit when ws(t) = {} { reset(t); }
  do rlock pending when ws(t) != {} and status(t) = active { status(t) := committing; }
  do commit when status(t) = committing and not stale(t) {
    for u != t where rs(u) | ws(u) != {} { newer(u) += ws(t); }
    for u != t where rs(u) meets ws(t) { stale(u) := true; }
    reset(t);
  }
}

on abort {
  reset(t);
}
