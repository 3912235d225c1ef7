/*
 * Dining philosophers who all take the left fork first
 *
 * N philosophers share N forks. Each takes the left fork, then the right
 * one, eats and puts both back. When all hold their left fork nobody can go
 * on: an invalid end state. The assertion that a fork has one holder is not
 * violated.
 *
 * expect: unsafe no-deadlock
 * scale: -DN=10
 */

#ifndef N
#define N 4
#endif

#define FREE 255

byte fork[N] = FREE;

#define left  _pid
#define right ((_pid + 1) % N)

active [N] proctype Philosopher()
{
	do
	:: atomic { fork[left] == FREE -> fork[left] = _pid }
	   atomic { fork[right] == FREE -> fork[right] = _pid }
	   /* eat */
	   assert(fork[left] == _pid && fork[right] == _pid);
	   fork[right] = FREE;
	   fork[left] = FREE
	od
}
