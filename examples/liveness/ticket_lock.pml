/*
 * A ticket lock serves everybody in the order of arrival.
 *
 * expect: unfair_scheduler unsafe
 * expect --fair weak: unfair_scheduler safe
 */
#define N 3
byte next, serving;

active [N] proctype P()
{
	byte mine;
	do
	:: atomic { mine = next; next = (next + 1) % N };
	   (serving == mine);
critical:	serving = (serving + 1) % N
	od
}

ltl unfair_scheduler { ([] <> P[0]@critical) && ([] <> P[1]@critical) && ([] <> P[2]@critical) }
