/* Active processes and init are numbered in the order of the text. */
byte order;
active proctype a() { order = order * 4 + _pid }
init { order = order * 4 + _pid }
active proctype b() { order = order * 4 + _pid }
