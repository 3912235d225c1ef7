// Hardware transactions with a lock to fall back to:
// A hardware transaction fails as soon as another thread accesses what it wrote
// or writes what it accessed; after a failure the transaction is executed under
// the lock, without hardware. It begins only while the lock is free, and
// watches the lock: taking it makes all hardware transactions fail.
//
// Source: Herlihy, Moss, "Transactional memory: architectural support for
// lock-free data structures" (ISCA 1993); lock elision as in Rajwar, Goodman,
// "Speculative lock elision" (MICRO 2001) and Dice, Harris, Kogan, Lev, Moir,
// "Pitfalls of lazy subscription" (WTTM 2014).

algorithm htm_lock;

expect strict-serializability holds;
expect opacity holds;

global {
  lock: thread or none;
}

thread {
  failed: bool;   // the next attempt takes the lock
  doomed: bool;   // the hardware has given up
  rs, ws: set of variables;
}

procedure reset(thread u) {
  doomed(u) := false;
  rs(u) := {};
  ws(u) := {};
}

on begin {
  do begin when not failed(t) and lock = none;
  do wait pending when not failed(t) and lock != none;
  do acquire pending when failed(t) and lock = none {
    lock := t;
    for u != t where not failed(u) { doomed(u) := true; }
  }
  do wait pending when failed(t) and lock != none and lock != t;
  do begin when failed(t) and lock = t;
}

on read(v) {
  do read when not doomed(t) {
    for u != t where v in ws(u) and lock != u { doomed(u) := true; }
    rs(t) += {v};
  }
}

on write(v) {
  do write when not doomed(t) {
    for u != t where v in rs(u) | ws(u) and lock != u { doomed(u) := true; }
    ws(t) += {v};
  }
}

on commit {
  do commit when not doomed(t) {
    if lock = t { lock := none; }
    failed(t) := false;
    reset(t);
  }
}

on abort {
  if lock = t { lock := none; }
  failed(t) := true;
  reset(t);
}
