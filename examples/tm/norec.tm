// NOrec: one global sequence lock and no per-variable data. A transaction that
// finds the sequence number changed compares the values it has read with the
// memory; writers take the lock to commit, and everybody waits while it is
// held.
//
// Source: Dalessandro, Spear, Scott, "NOrec: streamlining STM by abolishing
// ownership records" (PPoPP 2010). The sequence number is modelled by whether
// the thread's copy of it is current, the comparison of values by whether what
// was read has been overwritten; that a value may be overwritten by an equal
// one is left out, which only adds aborts. Writing back is one step.

algorithm norec;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom violated;
expect livelock-freedom violated;
expect wait-freedom violated;

global {
  lock: thread or none;
}

thread {
  rs, ws: set of variables;
  outdated: bool;  // the sequence number has changed since it was sampled
  changed: bool;   // and so has a value that was read
}

predicate free(thread t) = forall u != t: lock != u;

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  outdated(u) := false;
  changed(u) := false;
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and free(t) and not outdated(t) { rs(t) += {v}; }
  do wait pending when v not in ws(t) and not free(t);
  do revalidate pending when v not in ws(t) and free(t) and outdated(t) and not changed(t) {
    outdated(t) := false;
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when ws(t) = {} { reset(t); }
  do wait pending when ws(t) != {} and not free(t);
  do revalidate pending when ws(t) != {} and free(t) and outdated(t) and not changed(t) {
    outdated(t) := false;
  }
  do acquire pending when ws(t) != {} and free(t) and lock = none and not outdated(t) {
    lock := t;
  }
  do commit when lock = t {
    for u != t where rs(u) | ws(u) != {} { outdated(u) := true; }
    for u != t where rs(u) meets ws(t) { changed(u) := true; }
    reset(t);
    lock := none;
  }
}

on abort {
  reset(t);
}
