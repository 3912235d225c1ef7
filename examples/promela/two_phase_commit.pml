/*
 * Two-phase commit with a coordinator that can crash and recover
 *
 * N participants vote. The coordinator may lose patience while it collects
 * the votes, writes its decision to a log and sends it out; it can crash
 * while sending and then starts over from the log. Participants tolerate
 * repeated decisions. Asserted: nobody commits when somebody aborts, and a
 * commit needs the votes of all.
 *
 * expect: safe
 * scale: -DN=3
 */

#ifndef N
#define N 2
#endif

mtype = { prepare, yes, no, commit, abort };

chan to_part[N] = [1] of { mtype };
chan to_coord = [N] of { mtype };

byte yes_votes, committed, aborted;

active [N] proctype Participant()
{
	mtype decision;

	to_part[_pid]?prepare;
	if
	:: atomic { yes_votes++; to_coord!yes }
	:: atomic { to_coord!no; aborted++ }
	   goto forget
	fi;

	/* uncertain: has to wait for the coordinator */
	to_part[_pid]?decision;
	if
	:: decision == commit -> committed++
	:: decision == abort -> aborted++
	fi;
	assert(committed == 0 || aborted == 0);
	assert(committed == 0 || yes_votes == N);

forget:
end:	do
	:: to_part[_pid]?decision ->
		/* a repetition, or the answer to a vote of no */
		assert(decision == (committed > 0 -> commit : abort))
	od
}

active proctype Coordinator()
{
	byte i, votes, good;
	mtype vote, log;
	bool crashed;

	for (i : 0 .. N - 1) {
		to_part[i]!prepare
	}
	do
	:: votes < N ->
		to_coord?vote;
		votes++;
		good = good + (vote == yes -> 1 : 0)
	:: votes < N ->
		break		/* waited too long */
	:: votes == N ->
		break
	od;
	log = (good == N -> commit : abort);

recover:
	for (i : 0 .. N - 1) {
		to_part[i]!log;
		if
		:: !crashed ->
			crashed = true;
			goto recover
		:: true
		fi
	}
}
