/*
 * A clock read under interrupts (provided)
 *
 * An interrupt handler counts time in two digits. The main program stands
 * still while the handler runs (provided clause), but can be interrupted
 * between any two steps. It reads the high digit twice and tries again when
 * it has changed.
 * Asserted: the time read lies between the start and the end of the reading.
 *
 * expect: safe
 * scale: -DBASE=7
 */

#ifndef BASE
#define BASE 4
#endif

byte high, low;
bool in_handler;

#define now (high * BASE + low)

active proctype Handler()
{
	do
	:: now < BASE * BASE - 1 ->
		in_handler = true;
		low = (low + 1) % BASE;
		if
		:: low == 0 -> high++
		:: else
		fi;
		in_handler = false
	:: else -> break
	od
}

active proctype Main() provided (!in_handler)
{
	byte start, h, l;

	do
	:: start = now;
again:	   h = high;
	   l = low;
	   if
	   :: h != high -> goto again
	   :: else
	   fi;
	   assert(start <= h * BASE + l && h * BASE + l <= now);
	   h = 0;
	   l = 0
	:: now == BASE * BASE - 1 ->
	   break
	od
}
