/*
 * MSI cache coherence on a snooping bus
 *
 * N caches hold one line. A cache that wins the bus shows its request to the
 * other caches one after the other by rendezvous; each writes a modified
 * line back, gives its copy up if asked to, and replies.
 * Asserted: a cached copy and a fetched line hold the value written last,
 * and a line that becomes modified is the only valid copy.
 *
 * expect: safe
 * scale: -DN=4 -DVALUES=2
 */

#ifndef N
#define N 2
#endif
#ifndef VALUES
#define VALUES 3
#endif

mtype:state = { Invalid, Shared, Modified };
mtype:request = { BusRead, BusReadX };

chan bus = [1] of { bit };			/* the right to use the bus */
chan snoop[N] = [0] of { mtype:request };	/* requests shown on the bus */
chan reply = [0] of { bit };

mtype:state line[N] = Invalid;
byte memory;
byte latest;					/* value written last */

inline broadcast(r)
{
	for (i : 0 .. N - 1) {
		if
		:: i != me ->
			snoop[i]!r;
			reply?_
		:: else
		fi
	}
}

inline check_only_copy()
{
	d_step {
		for (i : 0 .. N - 1) {
			assert(i == me || line[i] == Invalid)
		}
		i = 0
	}
}

proctype Cache(byte me)
{
	byte data, i;
	mtype:request req;

	do
	:: snoop[me]?req ->
		if
		:: line[me] == Modified -> memory = data
		:: else
		fi;
		if
		:: req == BusReadX -> line[me] = Invalid
		:: req == BusRead && line[me] == Modified -> line[me] = Shared
		:: else
		fi;
		reply!1

	:: line[me] != Invalid ->		/* read hit */
		assert(data == latest)

	:: line[me] == Modified ->		/* write hit */
		data = (data + 1) % VALUES;
		latest = data

	:: bus?_ ->
		if
		:: line[me] == Invalid ->	/* read miss */
			broadcast(BusRead);
			data = memory;
			line[me] = Shared;
			assert(data == latest)
		:: line[me] != Modified ->	/* write miss or upgrade */
			broadcast(BusReadX);
			data = memory;
			line[me] = Modified;
			assert(data == latest);
			check_only_copy()
		:: line[me] == Modified ->	/* eviction */
			memory = data;
			line[me] = Invalid
		fi;
		bus!1
	od
}

init
{
	byte k;

	atomic {
		bus!1;
		for (k : 0 .. N - 1) {
			run Cache(k)
		}
	}
}
