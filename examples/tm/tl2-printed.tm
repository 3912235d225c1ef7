// TL2 as printed: strictly serializable, but not opaque. A transaction may
// read a variable that another one has locked and is about to change; see
// tl2.tm for the repair.
//
// Source: Guerraoui, Henzinger, Singh, "Model checking transactional memories"
// (Distributed Computing 2010), Section 3.3.4, Algorithm 4; after Dice, Shalev,
// Shavit (DISC 2006). Version numbers are modelled by modified sets: ms(t)
// holds what was committed since t began. Read so that the printed size comes
// out: validate's victims are those who hold a lock on what t read, and lose
// their read set; a commit reaches those who have read or written something;
// there is a conflict also where validate would meet another's lock.

algorithm tl2_printed;

expect strict-serializability holds;
expect opacity violated;
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
