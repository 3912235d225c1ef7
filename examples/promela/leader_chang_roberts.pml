/*
 * Leader election in a ring (Chang and Roberts)
 *
 * The identities 1..N are placed on the ring in every possible order. A node
 * starts on its own or when woken. It forwards larger identities and swallows
 * smaller ones; the node whose identity comes back to it is the leader.
 * Asserted: there is one leader, it has the largest identity, and all nodes
 * agree on it.
 *
 * expect: safe
 * scale: -DN=5
 */

#ifndef N
#define N 3
#endif

mtype = { candidate, elected };

chan ring[N] = [N] of { mtype, byte };
byte leaders;
byte informed;

proctype Node(chan from, to; byte id)
{
	byte nr;
	bool started;

	do
	:: !started ->
		started = true;
		to!candidate(id)
	:: from?candidate(nr) ->
		if
		:: nr > id ->
			started = true;		/* cannot win any more */
			to!candidate(nr)
		:: nr < id && !started ->
			started = true;
			to!candidate(id)
		:: nr < id && started
		:: nr == id ->
			leaders++;
			assert(leaders == 1 && id == N);
			to!elected(id)
		fi
	:: from?elected(nr) ->
		assert(nr == N && leaders == 1);
		informed++;
		if
		:: nr != id -> to!elected(nr)
		:: else
		fi;
		break
	od
}

init
{
	byte i, k;
	byte id[N];

	atomic {
		for (i : 1 .. N) {
			/* first free place at or after a random one */
			select (k : 0 .. N - 1);
			do
			:: id[k] != 0 -> k = (k + 1) % N
			:: else -> break
			od;
			id[k] = i
		}
		for (i : 0 .. N - 1) {
			run Node(ring[i], ring[(i + 1) % N], id[i])
		}
	}
	(_nr_pr == 1);
	assert(informed == N);
	for (i : 0 .. N - 1) {
		assert(empty(ring[i]))
	}
}
