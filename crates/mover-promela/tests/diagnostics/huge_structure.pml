typedef A { byte x[1000] };
typedef B { A a[1000] };
typedef C { B b[1000] };
C c[1000];
active proctype p() { skip }
