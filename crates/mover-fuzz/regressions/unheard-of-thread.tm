// tm seed 3863: strict-serializability (tm, larger numbers): said to hold for all numbers, but (r,1)_1 (w,1)_1 (w,1)_2 c_2 c_1 violates it
algorithm made;
thread { rs, ls : set of variables;
}
variable { owner : thread or none;
}
on read(v) { do read when(forall u != t : v not in rs(u)) { }
}
on write(v) { do write when(exists u != t : v in ls(u)) { }
do pending when(owner(v) = none or owner(v) = t) { owner(v) := t;
ls(t) += { v };
}
}
on commit { do commit { }
}
on abort { }
