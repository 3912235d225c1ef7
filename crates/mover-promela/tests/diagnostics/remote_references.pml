active proctype p() { byte a[2]; here: skip; x: skip; p[0]@here }
active [2] proctype q() { p[0]@nowhere; p[0]:nothing == 1; p[0]:a == 1; r[0]@here; q@x }
active proctype s() { q@x }
