/*
 * Servers that never return
 *
 * Each server enters itself into a table, says that it is up, and then works for ever on what is
 * its own. Clients wait until a server is up and look it up. After its last
 * shared step a server's transaction has committed and never ends: whoever waits
 * for its end never lets the clients run.
 *
 * Asserted: a client that has seen a server up finds one in the table, and no more
 * than there are.
 *
 * Grown from Figure 1 of Levin et al. (2005); not a row of their Table 1.
 *
 * expect: safe
 *
 * Error on purpose:
 *
 *   -DBUG=1  a server says that it is up before it is in the table
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef N
#define N 2
#endif
#ifndef CLIENTS
#define CLIENTS 1
#endif

bool table_lock;
byte servers;	/* protected by table_lock */
bool up;	/* unprotected */

inline lock(m)
{
	atomic { !m -> m = true }
}

inline unlock(m)
{
	m = false
}

active [N] proctype Server()
{
	byte round;

#if BUG == 1
	up = true;
#endif
	lock(table_lock);
	servers++;
	unlock(table_lock);
#if BUG != 1
	up = true;
#endif
	do
	:: round = (round + 1) % 4
	od
}

active [CLIENTS] proctype Client()
{
	byte found;

	up;
	lock(table_lock);
	found = servers;
	unlock(table_lock);
	assert(found >= 1 && found <= N)
}
