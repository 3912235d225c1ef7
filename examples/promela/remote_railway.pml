/*
 * A single-track railway section (remote references)
 *
 * Trains from east and west ask a controller for the section, cross it and
 * report that they have left. Trains in the same direction may follow each
 * other. A monitor looks once, at any time, at where the processes are.
 * Asserted: trains of both directions are never on the track together, and
 * the controller does not think the track is free while a train is on it.
 *
 * expect: safe
 * scale: -DEAST=7 -DWEST=5
 */

#ifndef EAST
#define EAST 3
#endif
#ifndef WEST
#define WEST 2
#endif

chan enter_east = [0] of { bit };
chan enter_west = [0] of { bit };
chan leave = [0] of { bit };

active [EAST] proctype Eastbound()	/* processes 0 .. EAST - 1 */
{
	do
	:: enter_east!1;
track:	   skip;
	   leave!1
	od
}

active [WEST] proctype Westbound()	/* processes EAST .. EAST + WEST - 1 */
{
	do
	:: enter_west!1;
track:	   skip;
	   leave!1
	od
}

active proctype Controller()
{
	byte trains;

free:	if
	:: enter_east?_ -> goto east
	:: enter_west?_ -> goto west
	fi;

east:	trains = 1;
	do
	:: enter_east?_ -> trains++
	:: leave?_ ->
		trains--;
		if
		:: trains == 0 -> goto free
		:: else
		fi
	od;

west:	trains = 1;
	do
	:: enter_west?_ -> trains++
	:: leave?_ ->
		trains--;
		if
		:: trains == 0 -> goto free
		:: else
		fi
	od
}

active proctype Monitor()
{
	byte e, w;

	atomic {
		select (e : 0 .. EAST - 1);
		select (w : EAST .. EAST + WEST - 1);
		assert(!(Eastbound[e]@track && Westbound[w]@track));
		if
		:: Controller[EAST + WEST]@free ->
			assert(!Eastbound[e]@track && !Westbound[w]@track)
		:: else
		fi
	}
}
