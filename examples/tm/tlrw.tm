// TLRW: read-write locks with visible readers. A reader announces itself and
// then looks for a writer; a writer takes the lock and then waits until the
// readers have gone. Who waits too long aborts. Writes are done in place.
//
// Source: Dice, Shavit, "TLRW: return of the read-write lock" (SPAA 2010), the
// byte-lock. A timeout may happen at any time.

algorithm tlrw;

update direct;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;

thread {
  rs: set of variables;  // announced as a reader
  ws: set of variables;  // owned as a writer
}

predicate owned_by_other(thread t, variable v) = exists u != t: v in ws(u);
predicate read_by_other(thread t, variable v) = exists u != t: v in rs(u);

// A timeout.
conflict write(v) when v in ws(t) and read_by_other(t, v);

on read(v) {
  do read when v in ws(t) and not read_by_other(t, v);
  do read when v not in ws(t) and v in rs(t) and not owned_by_other(t, v);
  do announce(v) pending when v not in ws(t) | rs(t) { rs(t) += {v}; }
  do wait pending when v in ws(t) and read_by_other(t, v);
}

on write(v) {
  do own(v) pending when v not in ws(t) and not owned_by_other(t, v) {
    ws(t) += {v};
  }
  do wait pending when v in ws(t) and read_by_other(t, v);
  do write when v in ws(t) and not read_by_other(t, v);
}

on commit {
  do commit {
    rs(t) := {};
    ws(t) := {};
  }
}

on abort {
  rs(t) := {};
  ws(t) := {};
}
