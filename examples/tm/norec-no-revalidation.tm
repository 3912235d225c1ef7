// NOrec, broken: a read does not look whether the sequence number has
// changed. The commit of a writer does, so committed writers stay in order; a
// reader that commits without that sees two states.
//
// Source: Dalessandro, Spear, Scott, "NOrec: streamlining STM by abolishing
// ownership records" (PPoPP 2010), as in norec.tm, with one mistake.

algorithm norec_no_revalidation;

expect strict-serializability violated;
expect opacity violated;

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
  do read when v not in ws(t) and free(t) { rs(t) += {v}; }
  do wait pending when v not in ws(t) and not free(t);
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
