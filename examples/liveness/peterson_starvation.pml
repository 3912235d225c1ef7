/*
 * Peterson's algorithm: no process waits for ever.
 *
 * A process that waits is let in, whatever the scheduler does: the other one
 * cannot pass it a second time. That a process comes to wait at all needs a
 * scheduler that is fair.
 *
 * expect: exclusion safe
 * expect: let_in safe
 * expect: gets_in unsafe
 * expect --fair weak: gets_in safe
 */
bool flag[2];
byte turn, inside;

active [2] proctype P()
{
again:
	flag[_pid] = true;
	turn = 1 - _pid;
wait:	(!flag[1 - _pid] || turn == _pid);
	inside++;
critical:
	inside--;
	flag[_pid] = false;
	goto again
}

ltl exclusion { [] (inside <= 1) }
ltl let_in    { [] (P[0]@wait -> <> P[0]@critical) }
ltl gets_in   { [] (P[0]@again -> <> P[0]@critical) }
