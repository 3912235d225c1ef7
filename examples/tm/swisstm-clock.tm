// SwissTM with its commit clock: a write lock at the first write, which other
// writers respect and readers do not; a read lock with a version, taken by the
// commit. A read of something newer than the snapshot extends the snapshot.
//
// Source: Dragojević, Guerraoui, Kapałka, "Stretching transactional memory"
// (PLDI 2009), Algorithm 1, with a contention manager that gives way. swisstm.tm
// has managers that do not, and no clock.

algorithm swisstm_clock;

expect strict-serializability holds;
expect opacity holds;

global {
  commits: time;
}

variable {
  version: time;
  writer: thread or none;
  closed: bool;  // the read lock
}

thread {
  committing: bool;
  valid: time;
  rs, ws: set of variables;
}

predicate closed_by_other(thread t, variable v) = closed(v) and writer(v) != t;
predicate valid_reads(thread t) =
    forall x in rs(t): version(x) <= valid(t) and not closed_by_other(t, x);

procedure reset(thread u) {
  committing(u) := false;
  valid(u) := 0;
  rs(u) := {};
  ws(u) := {};
}

on begin {
  do begin { valid(t) := commits; }
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and not closed_by_other(t, v) and version(v) <= valid(t) {
    rs(t) += {v};
  }
  do extend pending when v not in ws(t) and not closed_by_other(t, v) and version(v) > valid(t)
      and valid_reads(t) {
    valid(t) := commits;
  }
}

on write(v) {
  do write when v in ws(t);
  do wlock(v) pending when v not in ws(t) and writer(v) = none and version(v) <= valid(t) {
    writer(v) := t;
    ws(t) += {v};
  }
  do extend pending when v not in ws(t) and writer(v) = none and version(v) > valid(t)
      and valid_reads(t) {
    valid(t) := commits;
  }
}

on commit {
  do commit when ws(t) = {} { reset(t); }
  do close pending when ws(t) != {} and not committing(t) {
    for x in ws(t) { closed(x) := true; }
    committing(t) := true;
  }
  do commit when committing(t) and valid_reads(t) {
    commits += 1;
    for x in ws(t) {
      version(x) := commits;
      closed(x) := false;
      writer(x) := none;
    }
    reset(t);
  }
}

on abort {
  for x in ws(t) {
    closed(x) := false;
    writer(x) := none;
  }
  reset(t);
}
