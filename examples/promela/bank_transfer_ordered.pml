/*
 * Bank transfers with ordered locks
 *
 * Clerks move money around a circle of accounts and lock the account with
 * the smaller number first, so no circle of waiting can arise. Money on the
 * way is in no account, which is why the auditor takes all the locks.
 * Asserted: the auditor always finds the same total.
 *
 * expect: safe
 * scale: -DACCOUNTS=4 -DTOTAL=12
 */

#ifndef ACCOUNTS
#define ACCOUNTS 3
#endif
#ifndef TOTAL
#define TOTAL 3
#endif

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
	byte low  = (from < to -> from : to);
	byte high = (from < to -> to : from);

	do
	:: lock(low);
	   lock(high);
	   if
	   :: acc[from].balance > 0 ->
		acc[from].balance--;
		acc[to].balance++
	   :: else
	   fi;
	   unlock(from);
	   unlock(to)
	od
}

proctype Auditor()
{
	byte i, sum;

	do
	:: for (i : 0 .. ACCOUNTS - 1) {
		lock(i);
		sum = sum + acc[i].balance
	   }
	   assert(sum == TOTAL);
	   sum = 0;
	   for (i : 0 .. ACCOUNTS - 1) {
		unlock(i)
	   }
	od
}

init
{
	byte k;

	acc[0].balance = TOTAL;
	atomic {
		for (k : 0 .. ACCOUNTS - 1) {
			run Clerk(k, (k + 1) % ACCOUNTS)
		}
		run Auditor()
	}
}
