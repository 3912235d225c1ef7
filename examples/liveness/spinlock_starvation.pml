/*
 * A test-and-set lock: one process can win every time.
 *
 * The loser could take the lock whenever it is free, but not all the time, so
 * weak fairness does not help it. Strong fairness does. Somebody always gets the
 * lock.
 *
 * expect: somebody safe
 * expect --fair weak: starvation unsafe
 * expect --fair strong: starvation safe
 */
bool locked;

active [2] proctype P()
{
	do
	:: atomic { !locked -> locked = true };
critical:	locked = false
	od
}

ltl somebody   { [] <> (P[0]@critical || P[1]@critical) }
ltl starvation { [] <> P[0]@critical }
