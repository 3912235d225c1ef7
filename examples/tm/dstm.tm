// DSTM: a writer owns its variables and may take them from another owner;
// readers are invalidated by the commit of a writer.
//
// Source: Guerraoui, Henzinger, Singh, "Model checking transactional memories"
// (Distributed Computing 2010), Section 3.3.3, Algorithm 3; after Herlihy,
// Luchangco, Moir, Scherer (PODC 2003). Differs from the print in the commit:
// who is invalidated is determined before the ownerships are given up. Taken
// literally, the print invalidates nobody and is not strictly serializable.

algorithm dstm;

expect strict-serializability holds;
expect opacity holds;
expect serializability holds;
expect snapshot-isolation holds;
expect obstruction-freedom with aggressive holds;
expect livelock-freedom with aggressive violated;
expect wait-freedom with aggressive violated;

thread {
  status: { finished, validated, invalid, aborted };
  rs: set of variables;  // read
  os: set of variables;  // owned
}

procedure kill(thread u) {
  status(u) := aborted;
  rs(u) := {};
  os(u) := {};
}

procedure reset(thread u) {
  status(u) := finished;
  rs(u) := {};
  os(u) := {};
}

require status(t) != aborted;

conflict write(v) when exists u != t: v in os(u);
conflict commit when status(t) = finished and (exists u != t: rs(t) meets os(u));

on read(v) {
  do read when v in os(t);
  do read when v not in os(t) and status(t) = finished {
    rs(t) += {v};
  }
}

on write(v) {
  do write when v in os(t);
  do own(v) pending {
    os(t) += {v};
    for u != t where v in os(u) { kill(u); }
  }
}

on commit {
  do validate pending when status(t) = finished {
    status(t) := validated;
    for u != t where rs(t) meets os(u) { kill(u); }
  }
  do commit when status(t) = validated {
    for u != t where rs(u) meets os(t) { status(u) := invalid; }
    reset(t);
  }
}

on abort {
  reset(t);
}
