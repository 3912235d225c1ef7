/*
 * Workers that settle into one of several endless jobs
 *
 * A worker takes a number from the shared dispenser, marks it as taken, and settles for ever into one
 * of three jobs of its own. Each job is a cycle after the commit point; one place
 * at which the others are scheduled is enough for all of them.
 *
 * Asserted: an inspector finds no more numbers marked than were handed out.
 *
 * Grown from Figure 9 of Levin et al. (2005); not a row of their Table 1.
 *
 * expect: safe
 *
 * Error on purpose:
 *
 *   -DBUG=1  a worker marks its number before it takes it
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef N
#define N 2
#endif

bool dispenser_lock;
byte handed_out;	/* protected by dispenser_lock */
byte marked;		/* unprotected */

inline lock(m)
{
	atomic { !m -> m = true }
}

inline unlock(m)
{
	m = false
}

inline take()
{
	lock(dispenser_lock);
	handed_out++;
	unlock(dispenser_lock)
}

active [N] proctype Worker()
{
	byte progress;

#if BUG == 1
	marked++;
	take();
#else
	take();
	marked++;
#endif
	if
	:: do
		:: progress = 1;
			progress = 0
		od
	:: do
		:: progress = 2;
			progress = 0
		od
	:: do
		:: progress = (progress + 1) % 3
		od
	fi
}

active proctype Inspector()
{
	byte seen;

	seen = marked;
	lock(dispenser_lock);
	assert(seen <= handed_out);
	unlock(dispenser_lock)
}
