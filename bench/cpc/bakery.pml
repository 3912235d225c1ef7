/*
 * Lamport's bakery with bounded tickets, waiting busily
 *
 * A process takes a ticket above all that it has seen, reading them one at a
 * time, then waits for everybody who comes first. When tickets run out a
 * process starts again. Between visits it works for a time that ends by a free
 * choice. Asserted: mutual exclusion.
 *
 * A row of Table 1 of "Sound Transaction-based Reduction without Cycle
 * Detection" (Bakery).
 *
 * expect: safe
 */

#ifndef N
#define N 2
#endif
#ifndef MAX
#define MAX 3
#endif

bool choosing[N];
byte number[N];
byte inside;

active [N] proctype P()
{
	byte j, seen, max;
	bool busy;

again:
	do
	:: busy = true;
		busy = false
	:: break
	od;
	choosing[_pid] = true;
	do
	:: j < N ->
		seen = number[j];
		if
		:: seen > max -> max = seen
		:: else
		fi;
		j++
	:: else -> break
	od;
	j = 0;
	seen = 0;
	if
	:: max >= MAX ->
		max = 0;
		choosing[_pid] = false;
		goto again
	:: else
	fi;
	number[_pid] = max + 1;
	max = 0;
	choosing[_pid] = false;
	do
	:: j < N ->
		do
		:: choosing[j]
		:: else -> break
		od;
		do
		:: seen = number[j];
			if
			:: seen == 0 || j == _pid || seen > number[_pid] -> break
			:: seen == number[_pid] && j > _pid -> break
			:: else
			fi
		od;
		seen = 0;
		j++
	:: else -> break
	od;
	j = 0;
	seen = 0;
	inside++;
	assert(inside == 1);
	inside--;
	number[_pid] = 0;
	goto again
}
