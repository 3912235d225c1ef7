/*
 * Token ring that grows while it runs
 *
 * The ring starts with one node that sends to itself. A node can put a new
 * node between itself and its successor: it creates a process and passes it
 * a fresh channel and its own outgoing channel.
 * Asserted: the holder of the token is alone in the critical section, and
 * the token, counted up once by each node, never exceeds the number of nodes.
 *
 * expect: safe
 */

#ifndef N
#define N 4
#endif

chan first = [1] of { byte };
byte members = 1;
byte inside;

proctype Node(chan prev, next)
{
	chan fresh = [1] of { byte };
	bool has_child, counted;
	byte token;

	do
	:: prev?token ->
		inside++;
		assert(inside == 1);
		if
		:: !counted ->
			counted = true;
			token++
		:: else
		fi;
		assert(token <= members);
		inside--;
		next!token
	:: atomic {
		!has_child && members < N ->
		has_child = true;
		members++;
		run Node(fresh, next);
		next = fresh
	   }
	od
}

init
{
	atomic {
		first!0;
		run Node(first, first)
	}
}
