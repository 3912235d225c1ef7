/*
 * Peterson's algorithm for N processes, waiting busily
 *
 * The filter: a process passes N - 1 levels, and at each one of those who
 * try is held back. Waiting is a loop that reads the levels of the others one
 * by one. Outside of the critical section and inside of it a process works for
 * a time that an abstraction has forgotten: loops that end by a free choice.
 * Asserted: mutual exclusion.
 *
 * A row of Table 1 of "Sound Transaction-based Reduction without Cycle
 * Detection" (Peterson, there from an abstracted C program).
 *
 * expect: safe
 */

#ifndef N
#define N 2
#endif

byte level[N];
byte victim[N];
byte inside;

inline work()
{
	do
	:: busy = true;
		busy = false
	:: break
	od
}

active [N] proctype P()
{
	byte at, other;
	bool busy, held;

again:
	work();
	at = 1;
	do
	:: at < N ->
		level[_pid] = at;
		victim[at] = _pid;
		held = true;
		do
		:: held ->
			held = false;
			other = 0;
			do
			:: other < N ->
				if
				:: other != _pid && level[other] >= at -> held = true
				:: else
				fi;
				other++
			:: else -> break
			od;
			if
			:: victim[at] != _pid -> held = false
			:: else
			fi
		:: else -> break
		od;
		other = 0;
		at++
	:: else -> break
	od;
	at = 0;
	inside++;
	work();
	assert(inside == 1);
	inside--;
	level[_pid] = 0;
	goto again
}
