byte x;
proctype worker(chan in, out) { byte y; in?y; out!y + 1 }
init { chan a = [1] of { byte }; chan b = [0] of { byte }; run worker(a, b); a!3; b?x }
