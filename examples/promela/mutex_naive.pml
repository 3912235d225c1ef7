/*
 * Broken mutual exclusion: test first, set later
 *
 * A process looks at the other flag and raises its own one only afterwards.
 * Both can look while both flags are down, so both enter and the assertion
 * of mutual exclusion fails.
 *
 * expect: unsafe unreach-call
 */

bool busy[2];
byte inside;

active [2] proctype P()
{
	do
	:: !busy[1 - _pid];
	   busy[_pid] = true;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   busy[_pid] = false
	od
}
