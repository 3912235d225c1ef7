/*
 * An elevator with three floors: does everybody who calls get served?
 *
 * The one that goes to any floor with a call can neglect a floor for ever. The
 * one that goes up and down and stops everywhere cannot.
 *
 * expect --fair weak: served unsafe
 * expect --fair weak -DSWEEP: served safe
 */
#define N 3
bool call[N];
byte at;
bool up = true;

active proctype passengers()
{
	do
	:: !call[0] -> call[0] = true
	:: !call[1] -> call[1] = true
	:: !call[2] -> call[2] = true
	od
}

active proctype elevator()
{
	do
#ifdef SWEEP
	:: atomic { up && at < N - 1 -> at++; call[at] = false }
	:: atomic { up && at == N - 1 -> up = false }
	:: atomic { !up && at > 0 -> at--; call[at] = false }
	:: atomic { !up && at == 0 -> up = true }
#else
	:: atomic { call[0] -> at = 0; call[0] = false }
	:: atomic { call[1] -> at = 1; call[1] = false }
	:: atomic { call[2] -> at = 2; call[2] = false }
#endif
	od
}

ltl served { [] (call[2] -> <> !call[2]) }
