/*
 * Circular rendezvous
 *
 * N processes in a ring each want to hand a message to the next one before
 * they take one from the previous one. When all of them are sending, nobody
 * is left to receive. A process may also start by receiving, but the case
 * that all send is reachable: an invalid end state.
 *
 * expect: unsafe no-deadlock
 */

#ifndef N
#define N 3
#endif

chan link[N] = [0] of { byte };

active [N] proctype Node()
{
	byte x;

	do
	:: true ->
		link[(_pid + 1) % N]!_pid
	:: link[_pid]?x ->
		assert(x == (_pid + N - 1) % N)
	od
}
