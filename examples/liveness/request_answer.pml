/*
 * A server answers each request; a never claim says what must not happen: a
 * request after which the server is silent for ever. A clock that ticks all the
 * time is no excuse for a fair scheduler.
 *
 * expect: no_answer unsafe
 * expect --fair weak: no_answer safe
 */
chan requests = [1] of { bit };
chan answers = [1] of { bit };
bool open;

active proctype client()
{
	do
	:: requests!1; open = true; answers?1; open = false
	od
}

active proctype server()
{
	do
	:: requests?1; (open); answers!1
	od
}

active proctype clock()
{
	bit tick;
	do
	:: tick = 1 - tick
	od
}

never no_answer {
	do
	:: open -> break
	:: true
	od;
accept_silent:
	do
	:: open
	od
}
