// A TM that validates nothing: reads take what is there, a commit installs what
// was written. The example of how a check fails.
//
// Source: the strawman of every introduction to transactional memory.

algorithm naive;

expect strict-serializability violated;
expect opacity violated;
expect serializability violated;
expect snapshot-isolation violated;
expect obstruction-freedom holds;
expect livelock-freedom holds;
expect wait-freedom holds;

on read(v) {
  do read;
}

on write(v) {
  do write;
}

on commit {
  do commit;
}

on abort { }
