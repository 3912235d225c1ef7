byte x, a[3];
typedef T { byte f };
T t;
active proctype p() { x[1] = 2; a = 1; t = 2; t.g = 1; x.f = 1; a[7] = 1 }
