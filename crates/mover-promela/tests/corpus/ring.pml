mtype = { one, two };
chan q[3] = [2] of { mtype, byte };
byte leaders;
proctype node(chan in, out; byte mynumber) {
	byte nr; bool active_now = true;
	out!one(mynumber);
end:	do
	:: in?one(nr) -> if :: active_now && nr > mynumber -> out!one,nr; active_now = false :: nr == mynumber -> leaders++; assert(leaders == 1); break :: else fi
	:: in?two,nr -> out!two,nr; break
	od
}
init { byte k = 0; atomic { do :: k < 3 -> run node(q[k], q[(k + 1) % 3], k + 1); k++ :: else -> break od } }
