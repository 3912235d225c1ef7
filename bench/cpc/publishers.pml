/*
 * Publishers that go on alone
 *
 * A publisher writes a draft number without a lock and the text under the lock, both in one
 * critical section, and then polishes the next text for ever. The
 * first write commits, the release is a commit point of its own: readers must
 * be scheduled behind both.
 *
 * Asserted: under the lock the two halves of the text belong together.
 *
 * Grown from Figure 3 of Levin et al. (2005); not a row of their Table 1.
 *
 * expect: safe
 *
 * Error on purpose:
 *
 *   -DBUG=1  the second half is written after the lock is released
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef N
#define N 2
#endif
#ifndef READERS
#define READERS 1
#endif

bool text_lock;
byte left, right;	/* protected by text_lock */
byte draft;		/* unprotected */

inline lock(m)
{
	atomic { !m -> m = true }
}

inline unlock(m)
{
	m = false
}

active [N] proctype Publisher()
{
	bool polished;

	lock(text_lock);
	draft = _pid + 1;
	left = _pid + 1;
#if BUG != 1
	right = _pid + 1;
#endif
	unlock(text_lock);
#if BUG == 1
	right = _pid + 1;
#endif
	do
	:: polished = !polished
	od
}

active [READERS] proctype Reader()
{
	lock(text_lock);
	assert(left == right);
	unlock(text_lock)
}
