/*
 * Szymanski's mutual exclusion
 *
 * A waiting room with two doors: processes gather inside, the last one
 * closes the entry door and they leave through the exit door in the order
 * of their numbers. Every flag is read on its own, not all at once.
 * The assertion is mutual exclusion, which the closed door guarantees.
 *
 * expect: safe
 * scale: -DN=4
 */

#ifndef N
#define N 3
#endif

#define OUT     0	/* not interested */
#define ASK     1	/* wants to enter the waiting room */
#define WAITING 2	/* inside, waiting for the others */
#define DOOR    3	/* standing in the entry door */
#define CLOSED  4	/* entry door closed behind this one */

byte flag[N];
byte inside;

inline wait_for_all(condition)
{
	do
	:: atomic { j < N && (condition) -> j++ }
	:: j == N -> break
	od;
	j = 0
}

active [N] proctype P()
{
	byte j;

again:
	flag[_pid] = ASK;
	wait_for_all(flag[j] <= WAITING);
	flag[_pid] = DOOR;
	do
	:: j < N && flag[j] == ASK -> break
	:: j < N && flag[j] != ASK -> j++
	:: j == N -> goto close
	od;
	flag[_pid] = WAITING;
	do
	:: flag[j] == CLOSED -> break
	:: flag[j] != CLOSED -> j = (j + 1) % N
	od;

close:
	j = 0;
	flag[_pid] = CLOSED;
	/* leave in the order of the numbers */
	wait_for_all(j >= _pid || flag[j] <= ASK);

	atomic {
		inside++;
		assert(inside == 1)
	}
	inside--;

	/* nobody may still be gathering or in the door */
	wait_for_all(j <= _pid || flag[j] <= ASK || flag[j] == CLOSED);
	flag[_pid] = OUT;
	goto again
}
