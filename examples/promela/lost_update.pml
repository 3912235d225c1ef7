/*
 * Lost update of a shared counter
 *
 * N workers add one to a shared counter ROUNDS times, in two steps: read
 * into a local variable, write back the increased value. A write between
 * the two steps is lost, so the assertion on the final sum fails.
 *
 * expect: unsafe unreach-call
 * scale: -DN=3 -DROUNDS=3
 */

#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

byte counter;
byte finished;

active [N] proctype Worker()
{
	byte i, tmp;

	for (i : 1 .. ROUNDS) {
		tmp = counter;
		counter = tmp + 1
	}
	finished++
}

active proctype Check()
{
	(finished == N);
	assert(counter == N * ROUNDS)
}
