/*
 * Ticket lock with an atomic fetch-and-add
 *
 * A process draws the next ticket in one step and waits until it is served.
 * Tickets count modulo N, which is enough because at most N are in use.
 * Asserted: mutual exclusion, and first come first served: between drawing
 * a ticket and entering, a process is overtaken by nobody who drew later.
 *
 * expect: safe
 * scale: -DN=7
 */

#ifndef N
#define N 3
#endif

byte next_ticket;
byte serving;
byte inside;
chan order = [N] of { pid };	/* who drew, in order; only for the check */

active [N] proctype P()
{
	byte my;
	pid first;

	do
	:: atomic {
		my = next_ticket;
		next_ticket = (next_ticket + 1) % N;
		order!_pid
	   }
	   (serving == my);
	   inside++;
	   assert(inside == 1);
	   atomic {
		order?first;
		assert(first == _pid);
		first = 0
	   }
	   inside--;
	   atomic {
		serving = (serving + 1) % N;
		my = 0
	   }
	od
}
