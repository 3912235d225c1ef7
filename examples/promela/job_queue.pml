/*
 * Priority queue of jobs (sorted send, random receive)
 *
 * Clients put jobs into a queue sorted by priority and may withdraw their
 * own job as long as it is waiting. A server takes the first job.
 * Asserted: the job taken has the smallest number of all the waiting ones,
 * and every job is either served or withdrawn, never both.
 *
 * expect: safe
 * scale: -DCLIENTS=4
 */

#ifndef CLIENTS
#define CLIENTS 3
#endif
#define LEVELS 3

mtype = { idle, queued, served, withdrawn };

chan jobs = [CLIENTS] of { byte, pid };	/* priority, client */
mtype status[CLIENTS] = idle;

active [CLIENTS] proctype Client()
{
	byte prio;

	do
	:: select (prio : 1 .. LEVELS);
	   atomic {
		status[_pid] = queued;
		jobs!!prio, _pid
	   }
	   if
	   :: atomic {
		jobs??eval(prio), eval(_pid) ->
		assert(status[_pid] == queued);
		status[_pid] = withdrawn
	      }
	   :: status[_pid] == served
	   fi;
	   assert(!jobs??[eval(prio), eval(_pid)]);
	   status[_pid] = idle
	od
}

active proctype Server()
{
	byte prio;
	pid who;

	do
	:: atomic {
		jobs?prio, who ->
		assert(status[who] == queued);
		assert(prio <= 1 || !jobs??[1, _]);
		assert(prio <= 2 || !jobs??[2, _]);
		status[who] = served;
		prio = 0;
		who = 0
	   }
	od
}
