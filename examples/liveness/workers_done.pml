/*
 * Workers that end, and an accept label where a run must not stay.
 *
 * expect: done safe
 * expect: counted safe
 * expect: accept_waiting safe
 */
byte finished;

active [3] proctype worker()
{
	finished++
}

active proctype main()
{
accept_waiting:
	finished == 3
}

ltl done        { <> [] (finished == 3) }
ltl counted     { (finished == 0) U (finished == 1) }
