/*
 * Lock-free stack with the ABA problem
 *
 * Two threads pop nodes from a linked stack and push them back, both with
 * compare-and-swap on the top. While one thread is between reading the top
 * and swapping it, the other can pop two nodes and push the first one back;
 * the swap then succeeds and installs a node that is in use.
 * The assertion that a popped node has no owner fails.
 *
 * expect: unsafe unreach-call
 * scale: -DNODES=3
 */

#ifndef NODES
#define NODES 2
#endif

byte top = 1;
byte next[NODES + 1];		/* 0 is the end of the stack */
bool owned[NODES + 1];

inline pop(node)
{
	do
	:: node = top;
	   if
	   :: node == 0 -> break
	   :: else
	   fi;
	   succ = next[node];
	   if
	   :: atomic { top == node -> top = succ }
		assert(!owned[node]);
		owned[node] = true;
		break
	   :: top != node	/* try again */
	   fi
	od;
	succ = 0
}

inline push(node)
{
	owned[node] = false;
	do
	:: succ = top;
	   next[node] = succ;
	   if
	   :: atomic { top == succ -> top = node }
		break
	   :: top != succ	/* try again */
	   fi
	od;
	succ = 0;
	node = 0
}

proctype Single()		/* works with one node at a time */
{
	byte x, succ;

	do
	:: pop(x);
	   if
	   :: x != 0 -> push(x)
	   :: else
	   fi
	od
}

proctype Double()		/* works with two nodes at a time */
{
	byte x, y, succ;

	do
	:: pop(x);
	   pop(y);
	   if
	   :: x != 0 -> push(x)
	   :: else
	   fi;
	   if
	   :: y != 0 -> push(y)
	   :: else
	   fi
	od
}

init
{
	byte i;

	atomic {
		for (i : 1 .. NODES - 1) {
			next[i] = i + 1
		}
		run Single();
		run Double()
	}
}
