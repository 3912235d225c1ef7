// By hand: the paper's DSTM gives up its ownerships before it looks for whom to invalidate, so it
// invalidates nobody. All judges must find that it is not strictly serializable.
algorithm dstm_printed;

thread {
  status: { finished, validated, invalid, aborted };
  rs: set of variables;
  os: set of variables;
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

on read(v) {
  do read when v in os(t);
  do read when v not in os(t) and status(t) = finished { rs(t) += {v}; }
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
    reset(t);
    for u != t where rs(u) meets os(t) { status(u) := invalid; }
  }
}

on abort {
  reset(t);
}
