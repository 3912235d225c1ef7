/*
 * An abstracted program of loops
 *
 * What predicate abstraction leaves of a program whose threads update tables
 * under locks: each predicate is a bit, each loop ends by a free choice, each
 * update may or may not change a predicate. Two of the predicates belong to a
 * lock each; the third is read and written without one. Asserted: what holds
 * between the predicates of one lock.
 *
 * A row of Table 1 of "Sound Transaction-based Reduction without Cycle
 * Detection" (Conc).
 *
 * expect: safe
 */

#ifndef N
#define N 2
#endif

bool table_lock, index_lock;
bool filled, dirty;	/* protected by table_lock: dirty implies filled */
bool sorted, fresh;	/* protected by index_lock: fresh implies sorted */
bool hint;		/* unprotected */

inline lock(m)
{
	atomic { !m -> m = true }
}

inline unlock(m)
{
	m = false
}

inline perhaps(predicate)
{
	if
	:: predicate = true
	:: predicate = false
	fi
}

inline loop()
{
	do
	:: perhaps(own)
	:: break
	od;
	own = false
}

active [N] proctype Worker()
{
	bool own;

	do
	:: loop();
		lock(table_lock);
		assert(!dirty || filled);
		filled = true;
		do
		:: perhaps(dirty)
		:: break
		od;
		unlock(table_lock);
		loop();
		hint = true;
		loop();
		lock(index_lock);
		assert(!fresh || sorted);
		do
		:: sorted = true;
			perhaps(fresh)
		:: break
		od;
		unlock(index_lock);
		loop()
	:: loop();
		lock(table_lock);
		do
		:: dirty = false;
			filled = false
		:: break
		od;
		lock(index_lock);
		fresh = false;
		sorted = !dirty;
		unlock(index_lock);
		unlock(table_lock);
		hint = false
	od
}
