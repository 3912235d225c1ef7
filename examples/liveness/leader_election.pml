/*
 * Leader election in a ring (Chang and Roberts 1979): the highest number wins,
 * and everybody comes to know it.
 *
 * expect: at_most_one safe
 * expect: elected safe
 * expect: all_know safe
 * expect: wrong_one unsafe
 */
#define N 3
chan ring[N] = [N] of { bit, byte };
byte leaders, knowing, winner;

proctype node(byte place; byte number)
{
	bit is_result;
	byte seen;
	ring[(place + 1) % N]!0,number;
	do
	:: ring[place]?is_result,seen;
	   if
	   :: is_result && seen == number -> break
	   :: is_result && seen != number -> knowing++; ring[(place + 1) % N]!1,seen; break
	   :: !is_result && seen > number -> ring[(place + 1) % N]!0,seen
	   :: !is_result && seen < number -> skip
	   :: !is_result && seen == number ->
	      leaders++;
	      winner = number;
	      knowing++;
	      ring[(place + 1) % N]!1,number
	   fi
	od
}

init { atomic { run node(0, 5); run node(1, 9); run node(2, 7) } }

ltl at_most_one { [] (leaders <= 1) }
ltl elected     { <> (leaders == 1 && winner == 9) }
ltl all_know    { <> [] (knowing == N) }
ltl wrong_one   { [] (winner != 9) }
