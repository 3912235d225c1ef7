/*
 * Dekker's mutual exclusion
 *
 * Two processes raise a flag. When both flags are up, the one that does not
 * own the turn lowers its flag and waits for the turn.
 * The assertion says that the owner of the critical section is not disturbed
 * by the other process. It holds: a process enters only with its own flag up
 * after it has seen the other flag down.
 *
 * expect: safe
 */

bool flag[2];
bit turn;
byte owner = 255;

#define other (1 - _pid)

active [2] proctype P()
{
again:
	flag[_pid] = true;
	do
	:: flag[other] ->
		if
		:: turn == _pid
		:: turn != _pid ->
			flag[_pid] = false;
			(turn == _pid);
			flag[_pid] = true
		fi
	:: !flag[other] ->
		break
	od;

	owner = _pid;
	assert(owner == _pid && flag[_pid]);
	owner = 255;

	turn = other;
	flag[_pid] = false;
	goto again
}
