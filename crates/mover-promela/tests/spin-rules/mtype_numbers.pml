mtype = { a, b, c };
mtype = { d, e };
mtype:fruit = { apple, pear };
mtype x = a; mtype:fruit f = pear;
active proctype p() { assert(a == 3 && c == 1 && d == 5 && e == 4 && apple == 2 && f == 1); x = e; f = apple }
