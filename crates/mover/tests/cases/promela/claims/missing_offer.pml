// expect: unsafe claims
// An atomic sequence is seen where it blocks, if nobody offers to receive yet. (SPIN with its reduction reports no
// error here; with -DNOREDUCE it does.)
bit x;
chan r = [0] of { byte };
active proctype U() { atomic { x = 1; r!5 } }
active proctype T() { byte z; z = 1; atomic { r?z; x = 0 } }
ltl p { (<> [] (x == 1)) || [] (x == 0) }
