/*
 * Peterson's mutual exclusion, two processes
 *
 * Each process announces its interest, gives the turn away and waits until
 * the other one is not interested or the turn has come back.
 * The assertion says that a process in the critical section is alone there.
 * It holds because only one of two waiting processes can own the turn.
 *
 * expect: safe
 */

bool want[2];
bit turn;
byte inside;

active [2] proctype P()
{
	bit me = _pid;
	bit other = 1 - _pid;

	do
	:: want[me] = true;
	   turn = other;
	   (!want[other] || turn == me);
	   inside++;
	   assert(inside == 1);
	   inside--;
	   want[me] = false
	od
}
