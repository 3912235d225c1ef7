byte n = 0 - 1, k = 3;
byte a[n], b[k], c[0 - 2], d[k + 1];
unsigned u;
unsigned v : 40;
byte w : 3;
chan huge = [70000] of { byte };
chan negative = [0 - 1] of { byte };
active proctype p() { skip }
