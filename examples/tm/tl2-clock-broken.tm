// TL2 with its version clock, broken: the read set is validated before the
// clock is advanced. A transaction that commits in between goes unnoticed,
// because the test wv = rv + 1 is what protects the unvalidated case and the
// other one has been passed already.
//
// Source: Dice, Shalev, Shavit, "Transactional Locking II" (DISC 2006), with
// steps 4 and 5 of Section 2.2 exchanged, and without locks on what is read.

algorithm tl2_clock_broken;

expect strict-serializability violated;
expect opacity violated;

global {
  clock: time;
}

variable {
  version: time;
  lock: thread or none;
}

thread {
  phase: { running, checked };
  rv, wv: time;
  rs, ws: set of variables;
}

predicate locked_by_other(thread t, variable v) = exists u != t: lock(v) = u;

procedure reset(thread u) {
  phase(u) := running;
  rv(u) := 0;
  wv(u) := 0;
  rs(u) := {};
  ws(u) := {};
}

on begin {
  do begin { rv(t) := clock; }
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and not locked_by_other(t, v) and version(v) <= rv(t) {
    rs(t) += {v};
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when ws(t) = {} { reset(t); }
  do check pending when ws(t) != {} and phase(t) = running
      and (forall x in rs(t): version(x) <= rv(t) and not locked_by_other(t, x)) {
    phase(t) := checked;
  }
  do acquire(x) pending when phase(t) = checked and x in ws(t) and lock(x) = none {
    lock(x) := t;
  }
  do commit when phase(t) = checked and (forall x in ws(t): lock(x) = t) {
    clock += 1;
    for x in ws(t) {
      version(x) := clock;
      lock(x) := none;
    }
    reset(t);
  }
}

on abort {
  for x in ws(t) where lock(x) = t { lock(x) := none; }
  reset(t);
}
