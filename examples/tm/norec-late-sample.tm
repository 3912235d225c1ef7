// NOrec, broken: revalidation compares the values first and samples the
// sequence number afterwards, so a commit between the two goes unnoticed.
//
// Source: Dalessandro, Spear, Scott, "NOrec: streamlining STM by abolishing
// ownership records" (PPoPP 2010), as in norec.tm, with one mistake.

algorithm norec_late_sample;

expect strict-serializability violated;
expect opacity violated;

global {
  lock: thread or none;
}

thread {
  rs, ws: set of variables;
  outdated: bool;  // the sequence number has changed since it was sampled
  changed: bool;   // and so has a value that was read
  compared: bool;  // the values were found unchanged
}

predicate free(thread t) = forall u != t: lock != u;

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  outdated(u) := false;
  changed(u) := false;
  compared(u) := false;
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and free(t) and not outdated(t) { rs(t) += {v}; }
  do wait pending when v not in ws(t) and not free(t);
  do compare pending when v not in ws(t) and free(t) and outdated(t) and not changed(t)
      and not compared(t) {
    compared(t) := true;
  }
  do sample pending when v not in ws(t) and free(t) and compared(t) {
    compared(t) := false;
    outdated(t) := false;
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when ws(t) = {} { reset(t); }
  do wait pending when ws(t) != {} and not free(t);
  do compare pending when ws(t) != {} and free(t) and outdated(t) and not changed(t)
      and not compared(t) {
    compared(t) := true;
  }
  do sample pending when ws(t) != {} and free(t) and compared(t) {
    compared(t) := false;
    outdated(t) := false;
  }
  do acquire pending when ws(t) != {} and free(t) and lock = none and not outdated(t)
      and not compared(t) {
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
