// Closed nesting with `orElse` and `retry` over a lazy, validating memory: a
// nested transaction that is undone loses its writes, but what it read stays in
// the read set, because its outcome was decided by that.
//
// Source: Harris, Marlow, Peyton Jones, Herlihy, "Composable memory
// transactions" (PPoPP 2005), Section 6; the validation is that of occ.tm.

algorithm or_else;

expect opacity holds;
expect strict-serializability holds;

thread {
  rs, ws: set of variables;
  saved: set of variables;  // written before the nested transaction began
  stale: bool;
}

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  saved(u) := {};
  stale(u) := false;
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and not stale(t) { rs(t) += {v}; }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on nest {
  do nest { saved(t) := ws(t); }
}

on merge {
  do merge { saved(t) := {}; }
}

on undo {
  do undo {
    ws(t) := saved(t);
    saved(t) := {};
  }
}

on retry {
  do retry;
}

on commit {
  do commit when not stale(t) {
    for u != t where rs(u) meets ws(t) { stale(u) := true; }
    reset(t);
  }
}

on abort {
  reset(t);
}
