// expect: safe
// without: not checked
// expect: unknown
// options: -DTOLD
// message: `xr answers` in line 17 is not checked
// Another process knows the channel, and could receive from it.
chan requests = [1] of { chan };
active proctype Server() {
	chan to;
	byte x;
	requests?to;
	to!1
#ifdef TOLD
	; if :: to?x :: skip fi
#endif
}
active proctype Client() { chan answers = [1] of { byte }; xr answers; byte x; requests!answers; end: do :: answers?x od }
