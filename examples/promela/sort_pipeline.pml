/*
 * Parallel insertion sort with one process per number
 *
 * Each cell keeps the smallest number it has seen and passes the others to
 * the next cell, which it creates itself. The N input numbers are chosen
 * freely from 0..MAX.
 * Asserted at the end: the result is in order and has the sum of the input.
 *
 * expect: safe
 * scale: -DN=5 -DMAX=2
 */

#ifndef N
#define N 3
#endif
#ifndef MAX
#define MAX 2
#endif

byte result[N];

proctype Cell(chan left; byte count)
{
	chan right = [1] of { byte };
	byte mine, x;

	left?mine;
	count--;
	if
	:: count > 0 -> run Cell(right, count)
	:: else -> goto keep
	fi;
	do
	:: count > 0 ->
		left?x;
		count--;
		if
		:: x < mine ->
			right!mine;
			mine = x
		:: else ->
			right!x
		fi
	:: else -> break
	od;
keep:
	result[_pid - 1] = mine
}

init
{
	chan feed = [1] of { byte };
	byte i, x, sum;

	run Cell(feed, N);
	for (i : 1 .. N) {
		select (x : 0 .. MAX);
		sum = sum + x;
		feed!x
	}
	(_nr_pr == 1);
	for (i : 0 .. N - 1) {
		assert(i == 0 || result[i - 1] <= result[i]);
		sum = sum - result[i]
	}
	assert(sum == 0)
}
