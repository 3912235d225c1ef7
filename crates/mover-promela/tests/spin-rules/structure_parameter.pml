typedef P { byte a; byte b };
byte x;
proctype child(P p; byte c) { x = p.a + p.b + c }
init { P q; q.a = 1; q.b = 2; run child(q, 3) }
