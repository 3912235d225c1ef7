/*
 * Readers that spin on what never changes
 *
 * A reader counts itself in and then spins until its line of the configuration says stop. Nobody writes
 * the configuration while the program runs, so the line is read-only
 * and every look at it moves; where it does not say stop, the spin never ends and
 * the transaction that counted the reader in does not, either.
 *
 * Asserted: the gate keeper, who waits for a reader, finds at most as many as there are.
 *
 * In the manner of Figures 1 and 2 of Levin et al. (2005); not a row of their Table 1.
 *
 * expect: safe
 *
 * Error on purpose:
 *
 *   -DBUG=1  a reader counts itself in twice
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef N
#define N 3
#endif

/* The first reader stops, the others do not. */
bool stop[8] = { true, false, false, false, false, false, false, false };

bool gate_lock;
byte inside;	/* protected by gate_lock */
bool busy;	/* unprotected */

inline lock(m)
{
	atomic { !m -> m = true }
}

inline unlock(m)
{
	m = false
}

active [N] proctype Reader()
{
	bool look;

	lock(gate_lock);
	inside++;
#if BUG == 1
	inside++;
#endif
	unlock(gate_lock);
	busy = true;
	do
	:: stop[_pid] -> break
	:: else -> look = !look
	od
}

active proctype GateKeeper()
{
	byte found;

	busy;
	lock(gate_lock);
	found = inside;
	unlock(gate_lock);
	assert(found >= 1 && found <= N)
}
