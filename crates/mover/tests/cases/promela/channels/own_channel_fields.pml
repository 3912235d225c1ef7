// expect: unknown
// message: a channel of a process may take messages with another number of fields
// SPIN stops where the server answers: the channel of `Pair` takes two fields.
// expect: safe
// options: -DONLY_SINGLE
// Only channels with one field come to the server.
chan requests = [1] of { chan };

active proctype Single() {
	chan own = [1] of { byte };
	byte x;
	requests!own;
	own?x
}

active proctype Pair() {
	chan own = [1] of { byte, byte };
	byte x, y;
#ifdef ONLY_SINGLE
	own!1, 2;
#else
	requests!own;
#endif
	own?x, y
}

active proctype Server() {
	chan client;
end:
	do
	:: requests?client -> client!1
	od
}
