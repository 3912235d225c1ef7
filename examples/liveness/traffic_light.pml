/*
 * Two traffic lights at a crossing, which pass a token.
 *
 * expect: never_both safe
 * expect --fair weak: north_turns_green safe
 * expect: north_turns_green safe
 * expect: yellow_in_between safe
 */
mtype = { red, yellow, green };
mtype north = red, east = red;
byte token = 0;

active proctype North()
{
	do
	:: token == 0 -> north = green; north = yellow; north = red; token = 1
	od
}

active proctype East()
{
	do
	:: token == 1 -> east = green; east = yellow; east = red; token = 0
	od
}

ltl never_both        { [] !(north == green && east == green) }
ltl north_turns_green { [] <> (north == green) }
ltl yellow_in_between { [] (north == green -> (north == green W north == yellow)) }
