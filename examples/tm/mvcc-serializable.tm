// A multi-version store that validates reads as well: a read-only transaction
// reads the versions of its begin and commits; an update also fails if what it
// read has a newer version. Every transaction, committed or not, sees one
// snapshot.
//
// Source: Larson, Blanas, Diaconu, Freedman, Patel, Zwilling, "High-performance
// concurrency control mechanisms for main-memory databases" (VLDB 2011), the
// optimistic scheme, with validation and commit in one step.

algorithm mvcc_serializable;

expect snapshot-isolation holds;
expect serializability holds;
expect strict-serializability holds;
expect opacity holds;

global {
  clock: time;
}

variable {
  newest: time;
}

thread {
  start: time;
  read_only: bool;
  rs, ws: set of variables;
}

procedure reset(thread u) {
  start(u) := 0;
  read_only(u) := false;
  rs(u) := {};
  ws(u) := {};
}

on begin {
  do begin { start(t) := clock; }
}

on begin_read_only {
  do begin_read_only {
    start(t) := clock;
    read_only(t) := true;
  }
}

on read(v) {
  do read when v in ws(t);
  do old_read when v not in ws(t) {
    if not read_only(t) { rs(t) += {v}; }
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when ws(t) = {} or (forall x in rs(t) | ws(t): newest(x) <= start(t)) {
    if ws(t) != {} { clock += 1; }
    for x in ws(t) { newest(x) := clock; }
    reset(t);
  }
}

on abort {
  reset(t);
}
