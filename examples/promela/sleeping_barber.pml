/*
 * Sleeping barber
 *
 * The barber sleeps while nobody waits; a customer takes one of CHAIRS
 * chairs, or leaves when all are taken. All waiting is done on semaphores.
 * Asserted: no more customers wait than there are chairs, and exactly one
 * customer sits in the barber's chair during a haircut.
 *
 * expect: safe
 * scale: -DCUSTOMERS=9 -DCHAIRS=4
 */

#ifndef CUSTOMERS
#define CUSTOMERS 3
#endif
#ifndef CHAIRS
#define CHAIRS 2
#endif

byte mutex = 1;				/* semaphores */
byte arrived, ready, seated, done, gone;

byte waiting;				/* protected by mutex */
byte in_chair;

inline down(s)
{
	atomic { s > 0 -> s-- }
}

inline up(s)
{
	s++
}

active proctype Barber()
{
	do
	:: down(arrived);
	   down(mutex);
	   waiting--;
	   up(ready);
	   up(mutex);
	   down(seated);
	   assert(in_chair == 1);		/* cutting */
	   up(done);
	   down(gone)
	od
}

active [CUSTOMERS] proctype Customer()
{
	do
	:: down(mutex);
	   if
	   :: waiting < CHAIRS ->
		waiting++;
		assert(waiting <= CHAIRS);
		up(arrived);
		up(mutex);
		down(ready);
		in_chair++;
		assert(in_chair == 1);
		up(seated);
		down(done);
		in_chair--;
		up(gone)
	   :: else ->
		up(mutex)
	   fi
	od
}
