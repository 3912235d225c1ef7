byte g, h[2];
proctype p(byte n) { byte a[2] = n; byte b = h[n]; byte c = 3 / n; chan d = [1] of { byte }; chan e = d; skip }
init { run p(1) }
