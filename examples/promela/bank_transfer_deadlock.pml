/*
 * Bank transfers with lock order inversion
 *
 * A clerk locks the source account, then the target account, moves money
 * and unlocks both. Two clerks work in opposite directions, so each can
 * hold the lock the other one needs: a deadlock.
 * The asserted sum of the balances is kept.
 *
 * expect: unsafe no-deadlock
 */

#define ACCOUNTS 2
#define TOTAL    6

typedef Account {
	bool locked;
	byte balance
};

Account acc[ACCOUNTS];

inline lock(a)
{
	atomic { !acc[a].locked -> acc[a].locked = true }
}

inline unlock(a)
{
	acc[a].locked = false
}

proctype Clerk(byte from, to)
{
	do
	:: lock(from);
	   lock(to);
	   if
	   :: acc[from].balance > 0 ->
		acc[from].balance--;
		acc[to].balance++
	   :: else
	   fi;
	   assert(acc[from].balance + acc[to].balance == TOTAL);
	   unlock(to);
	   unlock(from)
	od
}

init
{
	acc[0].balance = TOTAL / 2;
	acc[1].balance = TOTAL - TOTAL / 2;
	atomic {
		run Clerk(0, 1);
		run Clerk(1, 0)
	}
}
