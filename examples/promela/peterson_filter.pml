/*
 * Peterson's filter lock for N processes
 *
 * A process climbs N-1 levels. At each level it becomes the last arrival and
 * looks at the others one by one, waiting for each to be lower or for a
 * newer arrival at its own level. At most N-k processes get past level k,
 * so the one that passes the last level is alone. The assertion checks this.
 *
 * expect: safe
 * scale: -DN=4
 */

#ifndef N
#define N 3
#endif

byte level[N];
byte last[N];
byte inside;

#define ahead_of(k) (k == _pid || level[k] < l || last[l] != _pid)

active [N] proctype P()
{
	byte l, k;

	do
	:: for (l : 1 .. N - 1) {
		level[_pid] = l;
		last[l] = _pid;
		do
		:: atomic { k < N && ahead_of(k) -> k++ }
		:: k == N -> break
		od;
		k = 0
	   }
	   atomic {
		inside++;
		assert(inside == 1)
	   }
	   inside--;
	   level[_pid] = 0
	od
}
