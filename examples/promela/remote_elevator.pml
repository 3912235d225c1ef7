/*
 * Elevator doors (remote references to labels and variables)
 *
 * A cab moves between FLOORS floors and stops where a call waits; it has the
 * door of the floor opened and closed by rendezvous. A safety monitor looks
 * at the door processes and at the local floor variable of the cab.
 * Asserted: a door is open only while the cab stands still at its floor.
 *
 * expect: safe
 * scale: -DFLOORS=6
 */

#ifndef FLOORS
#define FLOORS 4
#endif

mtype = { open, close };

chan door[FLOORS] = [0] of { mtype };
bool call[FLOORS];

active [FLOORS] proctype Door()		/* process number = floor */
{
	do
	:: door[_pid]?open;
opened:	   door[_pid]?close
	od
}

active proctype Cab()			/* process FLOORS */
{
	byte floor;

	do
	:: call[floor] ->
		door[floor]!open;
stopped:	call[floor] = false;
		door[floor]!close
	:: !call[floor] && floor + 1 < FLOORS ->
		floor++
	:: !call[floor] && floor > 0 ->
		floor--
	od
}

active proctype Passengers()
{
	byte f;

	do
	:: select (f : 0 .. FLOORS - 1);
	   call[f] = true
	od
}

active proctype Monitor()
{
	byte f;

	atomic {
		select (f : 0 .. FLOORS - 1);
		if
		:: Door[f]@opened -> assert(Cab[FLOORS]:floor == f)
		:: Cab[FLOORS]@stopped && Cab[FLOORS]:floor == f ->
			assert(Door[f]@opened)
		:: else
		fi
	}
}
