/*
 * Lamport's bakery with bounded tickets
 *
 * A process takes a ticket above all tickets it has seen, reading them one
 * at a time, then waits for everybody with a smaller (ticket, number) pair.
 * When the ticket would exceed MAX the process gives up and tries again, so
 * the state space is finite. The assertion is mutual exclusion; it holds
 * because a process waits while another one is still choosing.
 *
 * expect: safe
 * scale: -DN=3 -DMAX=4
 */

#ifndef N
#define N 2
#endif
#ifndef MAX
#define MAX 6
#endif

bool choosing[N];
byte number[N];
byte inside;

#define before(a, b) \
	(number[a] < number[b] || (number[a] == number[b] && a < b))

active [N] proctype P()
{
	byte j, max;

again:
	choosing[_pid] = true;
	max = 0;
	for (j : 0 .. N - 1) {
		max = (number[j] > max -> number[j] : max)
	}
	if
	:: max >= MAX ->
		choosing[_pid] = false;
		goto again
	:: else ->
		number[_pid] = max + 1;
		choosing[_pid] = false
	fi;
	for (j : 0 .. N - 1) {
		if
		:: j != _pid ->
			!choosing[j];
			(number[j] == 0 || before(_pid, j))
		:: else
		fi
	}

	inside++;
	assert(inside == 1);
	inside--;

	number[_pid] = 0;
	goto again
}
