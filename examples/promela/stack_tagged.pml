/*
 * Lock-free stack with a tagged top
 *
 * Two threads pop two nodes each and push them back in the same order, with
 * compare-and-swap on the top and a tag that grows with every swap. A top
 * that has changed and come back is noticed by its tag. Each thread works
 * ROUNDS times, which bounds the tag.
 * Asserted: a popped node has no owner, and at the end all nodes are on the
 * stack again.
 *
 * expect: safe
 * scale: -DROUNDS=2
 */

#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef NODES
#define NODES 3
#endif

typedef Tagged {
	byte node;
	byte tag
};

Tagged top;
byte next[NODES + 1];		/* 0 is the end of the stack */
bool owned[NODES + 1];

inline load()
{
	d_step {
		old.node = top.node;
		old.tag = top.tag
	}
}

inline cas(new)
{
	d_step {
		swapped = (top.node == old.node && top.tag == old.tag);
		if
		:: swapped ->
			top.node = new;
			top.tag++
		:: else
		fi
	}
}

inline pop(item)
{
	do
	:: load();
	   if
	   :: old.node == 0 -> break
	   :: else
	   fi;
	   succ = next[old.node];
	   cas(succ);
	   if
	   :: swapped ->
		item = old.node;
		assert(!owned[item]);
		owned[item] = true;
		break
	   :: else
	   fi
	od
}

inline push(item)
{
	owned[item] = false;
	do
	:: load();
	   next[item] = old.node;
	   cas(item);
	   if
	   :: swapped -> break
	   :: else
	   fi
	od;
	item = 0
}

proctype Thread()
{
	Tagged old;
	byte round, succ, x, y;
	bool swapped;

	for (round : 1 .. ROUNDS) {
		pop(x);
		pop(y);
		if
		:: x != 0 -> push(x)
		:: else
		fi;
		if
		:: y != 0 -> push(y)
		:: else
		fi
	}
}

init
{
	byte i, n;

	atomic {
		for (i : 1 .. NODES - 1) {
			next[i] = i + 1
		}
		top.node = 1;
		run Thread();
		run Thread()
	}
	(_nr_pr == 1);
	n = top.node;
	for (i : 1 .. NODES) {
		assert(n != 0);
		n = next[n]
	}
	assert(n == 0)
}
