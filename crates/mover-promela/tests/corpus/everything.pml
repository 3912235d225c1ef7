/* One of each, as a seed for mutations. */
mtype = { red, green, blue };
mtype:shape = { square, circle };
typedef Point { byte x; short y[2]; bit b = 1 };
hidden int secret = 3;
show byte shown; local unsigned u : 5;
chan buffered = [3] of { mtype, byte, Point };
chan handshake[2] = [0] of { byte };
Point points[2];
bool flags[3] = { true, false };

inline swap(a, b) { byte tmp; tmp = a; a = b; b = tmp }
inline larger(a, b) { return (a > b -> a : b) }

proctype worker(byte n; chan out; Point p) priority 1 provided (u < 30) {
	byte i, j; mtype c = green; mtype:shape s; pid me = _pid;
	xs out;
again:	for (i : 1 .. n) { points[i % 2].y[1] = -i; u++ };
	select (j : 0 .. 3);
	swap(i, j);
	i = larger(i, j);
	if
	:: out!c(i, p) -> skip
	:: out!!red,j,p
	:: buffered?eval(c),i,points[0] ; goto again
	:: buffered??blue(_, p)
	:: nfull(out) && (len(out) > 0 || !flags[1]) -> i--
	:: atomic { handshake[i & 1]?j -> j = ~j ^ 7 | i << 2 >> 1 }
	:: d_step { else ; printf("%d %e\n", i, c); assert(i >= 0 && j != 300) }
	fi unless { timeout || out?[red,_,_,_,_,_] };
	do
	:: break
	:: out?<c,i,p>
	:: out??[eval(c),_,_,_,_,_] -> printm(c)
	od;
end:	_nr_pr < 3
}

init { pid child; atomic { child = run worker(2, buffered, points[1]); run worker(1, buffered, points[0]) priority 3 }; handshake[0]!1; set_priority(child, get_priority(_pid)) }
never { T0: do :: worker[1]@again -> goto T0 :: np_ :: _last == 1 od }
ltl fine { [] (shown == 0) && <> (worker[1]:i > 2 U worker[1]@end) }
