// tm seed 267: strict-serializability (tm, larger numbers): said to hold for all numbers, but (r,1)_1 (w,1)_1 (w,1)_2 c_2 c_1 violates it
algorithm seq;
thread { status : { finished, started };
}
require exists u != t : status(u) = finished;
on read(v) { do read { status(t) := started;
}
}
on write(v) { do write { }
}
on commit { do commit { }
}
on abort { }
