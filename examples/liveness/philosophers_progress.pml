/*
 * Philosophers who put a fork back if the other one is taken: nobody is stuck,
 * and yet all of them can be hungry for ever.
 *
 * The label says what counts as progress.
 *
 * expect: progress_eat unsafe
 * expect --fair weak: progress_eat unsafe
 */
#define N 2
bool taken[N];

active [N] proctype P()
{
	do
	:: atomic { !taken[_pid] -> taken[_pid] = true };
	   if
	   :: atomic { !taken[(_pid + 1) % N] -> taken[(_pid + 1) % N] = true };
progress_eat:	taken[_pid] = false;
	      taken[(_pid + 1) % N] = false
	   :: taken[(_pid + 1) % N] -> taken[_pid] = false
	   fi
	od
}
