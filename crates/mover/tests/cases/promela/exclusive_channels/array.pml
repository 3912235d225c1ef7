// expect: safe
// engines: explicit/none,dynamic ic3
// expect: unsafe unreach-call
// options: -DWRONG
// message: xr assertion violated
chan c[2] = [1] of { byte };
active [2] proctype P() {
	byte x;
	xr c[_pid];
	c[1 - _pid]!1;
#ifdef WRONG
	c[1 - _pid]?x
#else
	c[_pid]?x
#endif
}
