// LSA with old versions, as published: a snapshot is valid up to a time. What
// is newer makes an update transaction extend its snapshot, if nothing it has
// read has changed; a read-only transaction takes the version that was current
// at its snapshot instead.
//
// Source: Riegel, Felber, Fetzer, "A lazy snapshot algorithm with eager
// validation" (DISC 2006), Algorithms 1 and 2. Locking, validation and
// writing at the commit are one step. lsa.tm is the variant with one version.

algorithm lsa_versions;

expect opacity holds;
expect strict-serializability holds;
expect snapshot-isolation holds;

global {
  clock: time;
}

variable {
  version: time;
}

thread {
  upper: time;  // the snapshot is valid up to here
  read_only: bool;
  rs, ws: set of variables;
}

procedure reset(thread u) {
  upper(u) := 0;
  read_only(u) := false;
  rs(u) := {};
  ws(u) := {};
}

on begin {
  do begin { upper(t) := clock; }
}

on begin_read_only {
  do begin_read_only {
    upper(t) := clock;
    read_only(t) := true;
  }
}

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) and version(v) <= upper(t) {
    if not read_only(t) { rs(t) += {v}; }
  }
  do old_read when v not in ws(t) and version(v) > upper(t) and read_only(t);
  do snapshot pending when v not in ws(t) and version(v) > upper(t) and not read_only(t)
      and (forall x in rs(t): version(x) <= upper(t)) {
    upper(t) := clock;
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do commit when ws(t) = {} { reset(t); }
  do commit when ws(t) != {} and (forall x in rs(t): version(x) <= upper(t)) {
    clock += 1;
    for x in ws(t) { version(x) := clock; }
    reset(t);
  }
}

on abort {
  reset(t);
}
