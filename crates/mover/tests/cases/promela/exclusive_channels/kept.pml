// expect: safe
// engines: all
// without: not checked
// expect: unsafe unreach-call
// options: -DLENGTH
// message: xr assertion violated: another process uses `c`
// Asking for the length counts as receiving and as sending.
// expect: safe
// options: -DROOM
// `nfull` counts as sending.
// expect: unsafe unreach-call
// options: -DWAITING
// message: xr assertion violated: another process uses `c?x`
// A receive counts even where there is never a message.
chan c = [1] of { byte };
active proctype Sender() {
	xs c;
	byte x;
	c!1;
#ifdef LENGTH
	len(c) == 0
#endif
#ifdef ROOM
	nfull(c)
#endif
#ifdef WAITING
end:	c?x
#endif
}
active proctype Receiver() { byte x; xr c; c?x }
