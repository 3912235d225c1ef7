/*
 * Dining philosophers, one of them left-handed
 *
 * Forks are channels that hold one message while the fork is on the table.
 * Philosopher 0 takes the forks in the opposite order, which breaks the
 * cycle of waiting, so there is no deadlock.
 * Asserted: neighbours never eat at the same time.
 *
 * expect: safe
 * scale: -DN=10
 */

#ifndef N
#define N 3
#endif

mtype = { on_table };

chan fork[N] = [1] of { mtype };
bool eating[N];

proctype Philosopher(byte me; chan first, second)
{
	do
	:: first?on_table;
	   second?on_table;
	   eating[me] = true;
	   assert(!eating[(me + 1) % N] && !eating[(me + N - 1) % N]);
	   eating[me] = false;
	   second!on_table;
	   first!on_table
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. N - 1) {
			fork[i]!on_table
		}
		run Philosopher(0, fork[1], fork[0]);
		for (i : 1 .. N - 1) {
			run Philosopher(i, fork[i], fork[(i + 1) % N])
		}
	}
}
