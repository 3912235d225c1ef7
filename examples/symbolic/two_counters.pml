/*
 * Two counters that go together
 *
 * That `b` is never ahead of `a` is said nowhere. With what the other
 * process remembers there are more than a thousand million states, too
 * many to visit one by one: a proof by induction has to find the comparison.
 * Asserted: the second counter stays within the bound of the first.
 *
 * expect: safe
 */

short a, b;

active proctype Count()
{
	do
	:: a < 30000 -> a++; b++; assert(b <= 30000)
	:: else -> a = 0; b = 0
	od
}

active proctype Watch()
{
	short seen;
	do
	:: seen = b
	od
}
