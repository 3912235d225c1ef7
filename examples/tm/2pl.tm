// Two-phase locking: a shared lock to read, an exclusive lock to write, all
// released at the commit.
//
// Source: Guerraoui, Henzinger, Singh, "Model checking transactional memories"
// (Distributed Computing 2010), Section 3.3.2, Algorithm 2. Differs from the
// print in that a lock that is held is not taken again (its own rule 8).

algorithm two_phase_locking;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom violated;
expect livelock-freedom violated;
expect wait-freedom violated;

thread {
  rs: set of variables;  // locked for reading
  ws: set of variables;  // locked for writing
}

on read(v) {
  do read when v in ws(t) | rs(t);
  do rlock(v) pending when v not in rs(t) | ws(t) and (forall u != t: v not in ws(u)) {
    rs(t) += {v};
  }
}

on write(v) {
  do write when v in ws(t);
  do wlock(v) pending when v not in ws(t) and (forall u != t: v not in ws(u) | rs(u)) {
    ws(t) += {v};
  }
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
