// TL2 as published, with its version clock: a transaction samples the clock at
// its begin (rv) and reads nothing newer; at its commit it locks what it
// writes, advances the clock (wv), validates what it read unless nobody else
// has committed meanwhile (wv = rv + 1), and leaves wv as the version of what
// it wrote. A declared read-only transaction keeps no read set.
//
// Source: Dice, Shalev, Shavit, "Transactional Locking II" (DISC 2006),
// Section 2.2. Sampling a variable's lock and version and loading its value
// count as one step (the published algorithm samples twice and compares), and
// so does writing back under the locks. Validation goes variable by variable.
// tl2.tm is the same algorithm as the paper on model checking tells it.

algorithm tl2_clock;

expect strict-serializability holds;
expect opacity holds;

global {
  clock: time;
}

variable {
  version: time;
  lock: thread or none;
}

thread {
  phase: { running, locked };
  read_only: bool;
  rv, wv: time;
  rs, ws: set of variables;
  checked: set of variables;  // of the read set, at the commit
}

predicate locked_by_other(thread t, variable v) = exists u != t: lock(v) = u;

procedure reset(thread u) {
  phase(u) := running;
  read_only(u) := false;
  rv(u) := 0;
  wv(u) := 0;
  rs(u) := {};
  ws(u) := {};
  checked(u) := {};
}

on begin {
  do begin { rv(t) := clock; }
}

on begin_read_only {
  do begin_read_only {
    rv(t) := clock;
    read_only(t) := true;
  }
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and not locked_by_other(t, v) and version(v) <= rv(t) {
    if not read_only(t) { rs(t) += {v}; }
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when ws(t) = {} { reset(t); }
  do acquire(x) pending when x in ws(t) and lock(x) = none {
    lock(x) := t;
  }
  do tick pending when ws(t) != {} and phase(t) = running and (forall x in ws(t): lock(x) = t) {
    clock += 1;
    wv(t) := clock;
    phase(t) := locked;
  }
  do check(x) pending when phase(t) = locked and wv(t) != rv(t) + 1 and x in rs(t) \ checked(t)
      and not locked_by_other(t, x) and version(x) <= rv(t) {
    checked(t) += {x};
  }
  do commit when phase(t) = locked and (wv(t) = rv(t) + 1 or rs(t) within checked(t)) {
    for x in ws(t) {
      version(x) := wv(t);
      lock(x) := none;
    }
    reset(t);
  }
}

on abort {
  for x in ws(t) where lock(x) = t { lock(x) := none; }
  reset(t);
}
