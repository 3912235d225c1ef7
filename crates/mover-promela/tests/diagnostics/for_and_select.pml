typedef M { byte v };
chan q = [1] of { byte };
byte x, a[2];
M m;
active proctype p() {
    for (a[0] : 1 .. 2) { skip };
    for (x in x) { skip };
    for (m in q) { skip };
    select (x : 3 .. 1);
    select (m : 1 .. 2)
}
