/*
 * Dining philosophers who take their time
 *
 * Between meals and during a meal a philosopher is busy for as long as it
 * likes: loops that end by a free choice and touch nothing shared. The last
 * philosopher takes its forks the other way round. Asserted: a fork is in one
 * hand at a time, and no more eat than there are pairs of forks.
 *
 * A row of Table 1 of "Sound Transaction-based Reduction without Cycle
 * Detection" (Philosophers).
 *
 * expect: safe
 */

#ifndef N
#define N 5
#endif

bool fork0, fork1, fork2, fork3, fork4, fork5, fork6;
bool used0, used1, used2, used3, used4, used5, used6;
byte eating;

inline take(fork)
{
	atomic { !fork -> fork = true }
}

inline give(fork)
{
	fork = false
}

inline dawdle()
{
	do
	:: busy = true;
		busy = false
	:: break
	od
}

inline philosopher(left, right, left_used, right_used)
{
	do
	:: dawdle();
		take(left);
		take(right);
		assert(!left_used && !right_used);
		left_used = true;
		right_used = true;
		eating++;
		dawdle();
		assert(eating <= N / 2);
		eating--;
		left_used = false;
		right_used = false;
		give(right);
		give(left)
	od
}

active proctype P0() { bool busy; philosopher(fork0, fork1, used0, used1) }
#if N > 2
active proctype P1() { bool busy; philosopher(fork1, fork2, used1, used2) }
#endif
#if N > 3
active proctype P2() { bool busy; philosopher(fork2, fork3, used2, used3) }
#endif
#if N > 4
active proctype P3() { bool busy; philosopher(fork3, fork4, used3, used4) }
#endif
#if N > 5
active proctype P4() { bool busy; philosopher(fork4, fork5, used4, used5) }
#endif
#if N > 6
active proctype P5() { bool busy; philosopher(fork5, fork6, used5, used6) }
#endif

active proctype Last()
{
	bool busy;

#if N == 2
	philosopher(fork0, fork1, used0, used1)
#elif N == 3
	philosopher(fork0, fork2, used0, used2)
#elif N == 4
	philosopher(fork0, fork3, used0, used3)
#elif N == 5
	philosopher(fork0, fork4, used0, used4)
#elif N == 6
	philosopher(fork0, fork5, used0, used5)
#else
	philosopher(fork0, fork6, used0, used6)
#endif
}
