/*
 * Sense-reversing barrier
 *
 * N processes work in phases. The last one to arrive at the barrier resets
 * the counter and flips the shared sense, which releases the others.
 * Asserted: a process that has left the barrier finds every other process in
 * the same phase or already in the next one, never behind. Phases are
 * counted modulo 4.
 *
 * expect: safe
 * scale: -DN=6
 */

#ifndef N
#define N 3
#endif

byte waiting;
bit sense;
byte phase[N];

active [N] proctype P()
{
	bit my;
	bool last;
	byte i;

	do
	:: phase[_pid] = (phase[_pid] + 1) % 4;
	   my = 1 - my;
	   atomic {
		waiting++;
		last = (waiting == N)
	   }
	   if
	   :: atomic { last -> last = false }
		waiting = 0;
		sense = my
	   :: else ->
		(sense == my)
	   fi;
	   d_step {
		for (i : 0 .. N - 1) {
			assert(phase[i] == phase[_pid] ||
			       phase[i] == (phase[_pid] + 1) % 4)
		}
		i = 0
	   }
	od
}
