// Closed nesting, broken: a nested transaction that is undone is forgotten with
// all that it read, although the transaction around it was told the outcome.
//
// Source: Harris, Marlow, Peyton Jones, Herlihy, "Composable memory
// transactions" (PPoPP 2005), Section 6; the validation is that of occ.tm.

algorithm or_else_forgetful;

expect opacity violated;
expect strict-serializability violated;

thread {
  rs, ws: set of variables;
  saved, before: set of variables;  // written and read before the nested one began
  stale: bool;
}

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  saved(u) := {};
  before(u) := {};
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
  do nest {
    saved(t) := ws(t);
    before(t) := rs(t);
  }
}

on merge {
  do merge {
    saved(t) := {};
    before(t) := {};
  }
}

on undo {
  do undo {
    ws(t) := saved(t);
    rs(t) := before(t);
    saved(t) := {};
    before(t) := {};
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
