// expect: safe
// engines: explicit/none,static,phase,dynamic bmc ic3
// without: not checked
// expect: unsafe unreach-call
// options: -DTWICE
// message: xr assertion violated: a second process declares `own`
// expect: unsafe unreach-call
// options: -DOTHER
// message: xr assertion violated: another process uses `a?x`
chan a = [1] of { byte };
chan b = [1] of { byte };
proctype Receiver(chan own) { byte x; xr own; own?x }
init {
	byte x;
	run Receiver(a);
#ifdef TWICE
	run Receiver(a);
#endif
	run Receiver(b);
	a!1;
	b!2;
#ifdef OTHER
	a!1;
	a?x
#endif
}
