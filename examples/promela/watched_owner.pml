/*
 * A lock that somebody looks at from outside
 *
 * `owner` names the process that may use `account`. It is no lock to a
 * reduction that goes by shapes, because the watcher looks at it without
 * having it. The annotation says what the owner may count on; it is checked,
 * and then the reductions `phase` and `dynamic` make use of it. SPIN takes
 * it for a comment.
 *
 * expect: safe
 * scale: -DCLIENTS=6
 */

#ifndef CLIENTS
#define CLIENTS 3
#endif
#define NOBODY 255

byte owner = NOBODY;
byte account;
byte seen;

/*@ exclusive(account, owner == _pid) */

active [CLIENTS] proctype Client()
{
	byte before;

	do
	:: atomic { owner == NOBODY -> owner = _pid };
	   before = account;
	   account = before + 1;
	   assert(account == before + 1);
	   account = 0;
	   owner = NOBODY
	od
}

active proctype Watcher()
{
	do
	:: seen = owner
	od
}
