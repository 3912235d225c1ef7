// TL2, repaired: a transaction reads no variable that another one has locked.
// That is what the published algorithm does by sampling the lock bit together
// with the version number, and what the paper's listing leaves out.
//
// Source: Dice, Shalev, Shavit, "Transactional Locking II" (DISC 2006), in the
// form of Guerraoui, Henzinger, Singh, "Model checking transactional memories"
// (Distributed Computing 2010), Section 3.3.4, Algorithm 4; tl2-printed.tm says
// how that listing is read.

algorithm tl2;

expect strict-serializability holds;
expect opacity holds;
expect obstruction-freedom with polite violated;
expect livelock-freedom with polite violated;
expect wait-freedom with polite violated;

thread {
  status: { finished, validated, aborted };
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
conflict commit when status(t) = finished and ws(t) = ls(t)
    and not rs(t) meets ms(t) and (exists u != t: rs(t) meets ls(u));

on read(v) {
  do read when v in ws(t);
  do read when v not in ws(t) | ms(t) and (forall u != t: v not in ls(u)) {
    rs(t) += {v};
  }
}

on write(v) {
  do write { ws(t) += {v}; }
}

on commit {
  do lock(x) pending when status(t) = finished and x in ws(t) \ ls(t) {
    ls(t) += {x};
    for u != t where x in ls(u) { status(u) := aborted; }
  }
  do validate pending when status(t) = finished and not rs(t) meets ms(t) and ws(t) = ls(t) {
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
