/*
 * Shared counter protected by a lock
 *
 * As in the lost update, but the read and the write of each worker are
 * inside a critical section guarded by a test-and-set lock.
 * Asserted: no update is lost, so the final sum is N * ROUNDS.
 *
 * expect: safe
 * scale: -DN=3 -DROUNDS=5
 */

#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

byte counter;
byte finished;
bool locked;

inline lock()
{
	atomic { !locked -> locked = true }
}

inline unlock()
{
	locked = false
}

active [N] proctype Worker()
{
	byte i, tmp;

	for (i : 1 .. ROUNDS) {
		lock();
		tmp = counter;
		counter = tmp + 1;
		unlock()
	}
	finished++
}

active proctype Check()
{
	(finished == N);
	assert(counter == N * ROUNDS)
}
