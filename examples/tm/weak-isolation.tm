// A lazy, validating memory whose variables are also accessed outside of
// transactions, and which knows nothing of that: transactions are isolated
// from each other (weak isolation), but not from such accesses.
//
// Source: Larus, Rajwar, "Transactional Memory" (2007); Martin,
// Blundell, Lewis, "Subtleties of transactional memory atomicity semantics"
// (Computer Architecture Letters 2006).

algorithm weak_isolation;

expect weak opacity holds;
expect weak strict-serializability holds;
expect opacity violated;
expect strict-serializability violated;

thread {
  rs, ws: set of variables;
  stale: bool;
}

procedure reset(thread u) {
  rs(u) := {};
  ws(u) := {};
  stale(u) := false;
}

on plain_read(v) {
  do plain_read;
}

on plain_write(v) {
  do plain_write;
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and not stale(t) { rs(t) += {v}; }
}

on write(v) {
  do write { ws(t) += {v}; }
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
