byte x;
mtype = { x, go };
active proctype p(byte x) {
    byte y;
    { byte y; y = 1 }
    byte go;
    go: skip
}
proctype p() { skip }
