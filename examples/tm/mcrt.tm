// McRT-STM (and Bartok) in outline: direct update under write locks, reads
// without a lock whose versions are compared once, at the commit. A
// transaction that is going to fail may go on with inconsistent reads, so this
// is not opaque.
//
// Source: Saha, Adl-Tabatabai, Hudson, Cao Minh, Hertzberg, "McRT-STM" (PPoPP
// 2006); Harris, Plesko, Shinnar, Tarditi, "Optimizing memory transactions"
// (PLDI 2006).

algorithm mcrt;

update direct;

expect strict-serializability holds;
expect opacity violated;
expect serializability holds;
expect obstruction-freedom violated;
expect livelock-freedom violated;
expect wait-freedom violated;

thread {
  rs: set of variables;
  ws: set of variables;  // written, and locked for it
  stale: bool;           // something read has a new version
}

predicate locked_by_other(thread t, variable v) = exists u != t: v in ws(u);

procedure release(thread t) {
  for u != t where rs(u) meets ws(t) { stale(u) := true; }
  rs(t) := {};
  ws(t) := {};
  stale(t) := false;
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and not locked_by_other(t, v) { rs(t) += {v}; }
}

on write(v) {
  do write when v in ws(t);
  do lock(v) pending when v not in ws(t) and not locked_by_other(t, v) { ws(t) += {v}; }
}

on commit {
  do commit when not stale(t) and not (exists u != t: rs(t) meets ws(u)) { release(t); }
}

on abort {
  release(t);
}
