/*
 * Prime sieve as a growing pipeline of processes
 *
 * The source sends 2, 3, ..., MAX and then 0. Each stage keeps the first
 * number it gets, drops the multiples of it and passes the rest to a stage
 * that it creates when the first number to be passed on turns up.
 * Asserted: every number kept is a prime, and all the primes are found.
 *
 * expect: safe
 * scale: -DMAX=30 -DSIZE=1
 */

#ifndef MAX
#define MAX 12
#endif
#ifndef SIZE
#define SIZE 0
#endif

byte found;

proctype Stage(chan left)
{
	chan right = [SIZE] of { byte };
	byte prime, n;
	bool last = true;

	left?prime;
	d_step {
		for (n : 2 .. prime - 1) {
			assert(prime % n != 0)
		}
		n = 0;
		found++
	}
	do
	:: left?n ->
		if
		:: n == 0 -> break
		:: n != 0 && n % prime == 0
		:: n % prime != 0 ->
			if
			:: last ->
				last = false;
				run Stage(right)
			:: else
			fi;
			right!n
		fi
	od;
	if
	:: !last -> right!0
	:: else
	fi
}

init
{
	chan source = [SIZE] of { byte };
	byte i, d;

	run Stage(source);
	for (i : 2 .. MAX) {
		source!i
	}
	source!0;
	(_nr_pr == 1);
	d_step {
		/* count again by trial division */
		for (i : 2 .. MAX) {
			d = 2;
			do
			:: i % d != 0 -> d++
			:: else -> break
			od;
			found = found - (d == i -> 1 : 0)
		}
	}
	assert(found == 0)
}
