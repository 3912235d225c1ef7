/*
 * Readers and writers with two semaphores
 *
 * The first reader locks the room and the last one unlocks it; a second
 * semaphore protects the number of readers. A writer needs the room alone.
 * Asserted: a writer is alone in the room, and a reader never meets a
 * writer there.
 *
 * expect: safe
 * scale: -DREADERS=7 -DWRITERS=4
 */

#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif

byte room = 1;		/* semaphores */
byte mutex = 1;
byte count;		/* number of readers, protected by mutex */

byte reading, writing;	/* who is in the room, for the check */

inline down(s)
{
	atomic { s > 0 -> s-- }
}

inline up(s)
{
	s++
}

active [READERS] proctype Reader()
{
	do
	:: down(mutex);
	   count++;
	   if
	   :: count == 1 -> down(room)
	   :: else
	   fi;
	   up(mutex);

	   reading++;
	   assert(writing == 0);
	   reading--;

	   down(mutex);
	   count--;
	   if
	   :: count == 0 -> up(room)
	   :: else
	   fi;
	   up(mutex)
	od
}

active [WRITERS] proctype Writer()
{
	do
	:: down(room);
	   writing++;
	   assert(writing == 1 && reading == 0);
	   writing--;
	   up(room)
	od
}
