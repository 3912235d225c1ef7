/*
 * A lock that its owner may take again
 *
 * `add` takes the lock for itself, and is also called by those who have it
 * already. The cell `owner` names the process that has the lock, `depth`
 * counts how often. Asserted: both counters agree whenever the lock is held.
 *
 * expect: safe
 * scale: -DWORKERS=4 -DROUNDS=4
 */

#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

byte owner, depth;
byte count, shadow;

inline lock()
{
	atomic { owner == 0 || owner == _pid + 1 -> owner = _pid + 1; depth++ }
}

inline unlock()
{
	atomic {
		owner == _pid + 1 -> depth--;
		if
		:: depth == 0 -> owner = 0
		:: else
		fi
	}
}

inline add()
{
	lock();
	count++;
	unlock()
}

active [WORKERS] proctype Worker()
{
	byte round;

	do
	:: round < ROUNDS ->
		lock();
		add();
		shadow++;
		assert(shadow == count);
		unlock();
		round++
	:: else -> break
	od
}
