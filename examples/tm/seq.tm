// The sequential TM: one transaction at a time.
//
// Source: Guerraoui, Henzinger, Singh, "Model checking transactional memories"
// (Distributed Computing 2010), Section 3.3.1, Algorithm 1, as printed.

algorithm seq;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom violated;
expect livelock-freedom violated;
expect wait-freedom violated;

thread {
  status: { finished, started };
}

require forall u != t: status(u) = finished;

on read(v) {
  do read { status(t) := started; }
}

on write(v) {
  do write { status(t) := started; }
}

on commit {
  do commit { status(t) := finished; }
}

on abort {
  status(t) := finished;
}
