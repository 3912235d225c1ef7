/*
 * A transaction manager with two resources
 *
 * Clients begin transactions, write to both resources, and ask for commitment;
 * a coordinator runs two-phase commit: it asks both resources for their vote,
 * writes its decision to a log, carries it out, and tells the client. Meanwhile
 * a timer may abort a transaction that has not yet asked for commitment, an
 * auditor compares the resources, and a recovery process reads the log, as it
 * would after a crash at that moment.
 *
 * Who protects what:
 *
 *   table_lock    the table of transactions: state, value to be written
 *   lock0, lock1  the resources: their values and which transaction they are
 *                 prepared for
 *   log_lock      the log
 *   wake          the coordinator's bell: set and cleared without a lock
 *
 * Locks are taken in the order table_lock, lock0, lock1, log_lock.
 *
 * Asserted:
 *
 *   atomicity    the auditor never sees the resources differ
 *   durability   a transaction that its client takes for committed is in the
 *                log as committed
 *   agreement    a transaction is carried out only if it was decided so, and
 *                an aborted one never is
 *   isolation    what is committed was prepared by both resources until then
 *
 * In the manner of a row of Table 1 of "Sound Transaction-based Reduction
 * without Cycle Detection" (TransactionManager, there from a C# program of
 * which "the manual abstraction did not result in non-deterministically
 * terminating loops"). With -DLOOPS what each process does on its own is such a
 * loop.
 *
 * expect: safe
 *
 * Errors on purpose:
 *
 *   -DBUG=1  the decision is carried out with one resource lock at a time
 *   -DBUG=2  the timer aborts whatever is not finished
 *   -DBUG=3  the client is told before the log is written
 *   -DBUG=4  a resource does not look whether it is prepared already; takes
 *            -DCOORDINATORS=2
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef COORDINATORS
#define COORDINATORS 1
#endif

/* States of a transaction, in the table and in the log. */
#define IDLE       0
#define ACTIVE     1
#define ASKED      2	/* the client wants to commit */
#define PREPARING  3
#define COMMITTED  4
#define ABORTED    5

#define NOBODY     0	/* no transaction; else its number plus one */

/* The table, protected by table_lock. */
bool table_lock;
byte state0, state1, state2;
byte wanted0, wanted1, wanted2;

/* The resources, protected by lock0 and lock1. */
bool lock0, lock1;
byte value0, value1;
byte prepared0, prepared1;

/* The log, protected by log_lock. */
bool log_lock;
byte logged0, logged1, logged2;

/* The coordinators' bell. */
bool wake;

inline lock(m)
{
	atomic { !m -> m = true }
}

inline unlock(m)
{
	m = false
}

/* Something that takes a while and is nobody else's business. */
inline compute()
{
#ifdef LOOPS
	do
	:: busy = true;
		busy = false
	:: break
	od
#else
	busy = true;
	busy = false
#endif
}

/*
 * A client with its own line of the table.
 */
inline client(number, state, wanted, logged)
{
	do
	:: compute();
		/* Begin. */
		lock(table_lock);
		assert(state == IDLE);
		state = ACTIVE;
		wanted = number + 1;
		unlock(table_lock);
		compute();
		/* Ask for commitment, unless the timer was faster. */
		lock(table_lock);
		if
		:: state == ACTIVE -> state = ASKED
		:: else -> assert(state == ABORTED)
		fi;
		unlock(table_lock);
		wake = true;
		/* Wait for the outcome. */
		do
		:: lock(table_lock);
			outcome = state;
			unlock(table_lock);
			if
			:: outcome == COMMITTED || outcome == ABORTED -> break
			:: else
			fi
		od;
		lock(log_lock);
		assert(outcome != COMMITTED || logged == COMMITTED);
		assert(outcome != ABORTED || logged != COMMITTED);
		unlock(log_lock);
		outcome = 0;
		/* Forget the transaction. */
		lock(table_lock);
		lock(log_lock);
		logged = IDLE;
		unlock(log_lock);
		wanted = 0;
		state = IDLE;
		unlock(table_lock)
	od
}

active proctype Client0()
{
	bool busy;
	byte outcome;

	client(0, state0, wanted0, logged0)
}

#if CLIENTS > 1
active proctype Client1()
{
	bool busy;
	byte outcome;

	client(1, state1, wanted1, logged1)
}
#endif

#if CLIENTS > 2
active proctype Client2()
{
	bool busy;
	byte outcome;

	client(2, state2, wanted2, logged2)
}
#endif

/*
 * The resources, as the coordinator calls them.
 */

/* The vote of a resource; it may say no for reasons of its own. */
inline prepare(resource_lock, prepared, number, vote)
{
	lock(resource_lock);
#if BUG == 4
	if
	:: prepared = number + 1;
		vote = true
	:: vote = false
	fi;
#else
	if
	:: prepared == NOBODY ->
		if
		:: prepared = number + 1;
			vote = true
		:: vote = false
		fi
	:: else -> vote = false
	fi;
#endif
	unlock(resource_lock)
}

/* Carries out the decision on a resource whose lock is held. */
inline finish(value, prepared, number, new)
{
	if
	:: prepared == number + 1 ->
		if
		:: decision == COMMITTED -> value = new
		:: else
		fi;
		prepared = NOBODY
	:: else -> assert(decision == ABORTED)
	fi
}

inline finish_both(number)
{
#if BUG == 1
	lock(lock0);
	finish(value0, prepared0, number, target);
	unlock(lock0);
	lock(lock1);
	finish(value1, prepared1, number, target);
	unlock(lock1)
#else
	lock(lock0);
	lock(lock1);
	finish(value0, prepared0, number, target);
	finish(value1, prepared1, number, target);
	unlock(lock1);
	unlock(lock0)
#endif
}

inline write_log(logged)
{
	lock(log_lock);
	assert(logged == IDLE);
	logged = decision;
	unlock(log_lock)
}

inline tell(state)
{
	lock(table_lock);
	assert(state == PREPARING);
	state = decision;
	unlock(table_lock)
}

/*
 * One line of the table, looked at by the coordinator.
 */
inline serve(number, state, wanted, logged)
{
	lock(table_lock);
	mine = (state == ASKED);
	if
	:: mine ->
		state = PREPARING;
		target = wanted
	:: else
	fi;
	unlock(table_lock);
	if
	:: mine ->
		mine = false;
		compute();
		prepare(lock0, prepared0, number, yes0);
		prepare(lock1, prepared1, number, yes1);
		if
		:: yes0 && yes1 -> decision = COMMITTED
		:: else -> decision = ABORTED
		fi;
		yes0 = false;
		yes1 = false;
#if BUG == 3
		finish_both(number);
		tell(state);
		write_log(logged);
#else
		write_log(logged);
		finish_both(number);
		tell(state);
#endif
		decision = 0;
		target = 0
	:: else
	fi
}

active [COORDINATORS] proctype Coordinator()
{
	bool busy, mine, yes0, yes1;
	byte decision, target;

end:
	do
	:: atomic { wake -> wake = false };
		serve(0, state0, wanted0, logged0);
#if CLIENTS > 1
		serve(1, state1, wanted1, logged1);
#endif
#if CLIENTS > 2
		serve(2, state2, wanted2, logged2);
#endif
		compute()
	od
}

/*
 * The others.
 */
inline expire(state)
{
	lock(table_lock);
	if
#if BUG == 2
	:: state == ACTIVE || state == ASKED || state == PREPARING -> state = ABORTED
#else
	:: state == ACTIVE -> state = ABORTED
#endif
	:: else
	fi;
	unlock(table_lock)
}

active proctype Timer()
{
	bool busy;

	do
	:: compute();
		expire(state0)
#if CLIENTS > 1
	:: compute();
		expire(state1)
#endif
#if CLIENTS > 2
	:: compute();
		expire(state2)
#endif
	od
}

active proctype Auditor()
{
	bool busy;

	do
	:: compute();
		lock(lock0);
		lock(lock1);
		assert(value0 == value1);
		unlock(lock1);
		unlock(lock0)
	od
}

inline recover(state, logged)
{
	lock(table_lock);
	lock(log_lock);
	assert(state != COMMITTED || logged == COMMITTED);
	assert(logged != COMMITTED || state == PREPARING || state == COMMITTED);
	unlock(log_lock);
	unlock(table_lock)
}

active proctype Recovery()
{
	bool busy;

	do
	:: compute();
		recover(state0, logged0)
#if CLIENTS > 1
	:: compute();
		recover(state1, logged1)
#endif
#if CLIENTS > 2
	:: compute();
		recover(state2, logged2)
#endif
	od
}
