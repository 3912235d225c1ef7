/*
 * The next operator counts steps: two workers, and what is true after one step
 * and after two.
 *
 * expect: one safe
 * expect: two unsafe
 * expect: one_or_two safe
 */
byte finished;

active [2] proctype worker()
{
	finished++;
	finished < 9
}

ltl one        { X (finished == 1) }
ltl two        { X X (finished == 2) }
ltl one_or_two { X X (finished == 1 || finished == 2) }
