/*
 * Wolf, goat and cabbage
 *
 * A farmer takes at most one passenger per crossing and leaves no passenger
 * alone with its food. The assertion claims that not everything can be on
 * the other bank; it fails, and the error path is the solution.
 *
 * expect: unsafe unreach-call
 */

#define WOLF    0
#define GOAT    1
#define CABBAGE 2

bool farmer;		/* true: on the other bank */
bool there[3];

#define eaten(x, y) (there[x] == there[y] && there[x] != farmer)

active proctype Farmer()
{
	byte i;

	do
	:: atomic {
		select (i : 0 .. 3);		/* 3: nobody comes along */
		if
		:: i < 3 && there[i] == farmer -> there[i] = !farmer
		:: i == 3
		:: else -> goto next
		fi;
		farmer = !farmer;
		if
		:: eaten(WOLF, GOAT) || eaten(GOAT, CABBAGE) ->
			/* take it back */
			farmer = !farmer;
			if
			:: i < 3 -> there[i] = farmer
			:: else
			fi
		:: else
		fi;
next:		i = 0
	   }
	   assert(!(there[WOLF] && there[GOAT] && there[CABBAGE]))
	od
}
