// TL2 with validation in the wrong order: whether what was read has changed is
// looked at first, whether it is locked only afterwards. A writer can lock,
// commit and unlock in between.
//
// Source: Guerraoui, Henzinger, Singh, "Model checking transactional memories"
// (Distributed Computing 2010), Section 5.4: the algorithm of tl2-printed.tm
// with `validate` split into `rvalidate` and `chklock`. The conflict that
// `validate` had is now `chklock`'s.

algorithm tl2_modified;

expect strict-serializability violated;
expect opacity violated;
expect strict-serializability with polite violated;
expect opacity with polite violated;
expect obstruction-freedom with polite violated;

thread {
  status: { finished, rvalidated, validated, aborted };
  rs, ws: set of variables;  // read, written
  ls: set of variables;      // locked
  ms: set of variables;      // modified by others since the beginning
}

procedure reset(thread u) {
  status(u) := finished;
  rs(u) := {};
  ws(u) := {};
  ls(u) := {};
  ms(u) := {};
}

conflict commit when exists u != t: ws(t) meets ls(u);
conflict commit when status(t) = rvalidated and (exists u != t: rs(t) meets ls(u));

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) | ms(t) { rs(t) += {v}; }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do lock(x) pending when status(t) = finished and x in ws(t) \ ls(t) {
    ls(t) += {x};
    for u != t where x in ls(u) { status(u) := aborted; }
  }
  do rvalidate pending when status(t) = finished and not rs(t) meets ms(t) and ws(t) = ls(t) {
    status(t) := rvalidated;
  }
  do chklock pending when status(t) = rvalidated {
    status(t) := validated;
    for u != t where rs(t) meets ls(u) {
      status(u) := aborted;
      rs(u) := {};
    }
  }
  do commit when status(t) = validated {
    for u != t where rs(u) | ws(u) != {} { ms(u) += ws(t); }
    reset(t);
  }
}

on abort {
  reset(t);
}
