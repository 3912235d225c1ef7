/*
 * A flow of parallel activities with links between them
 *
 * The activities of a flow run at the same time. A link from one to another
 * carries whether the first was done or skipped; an activity waits for its
 * links, joins them, works, and tells its successors. Whether an activity is
 * done at all is a free choice, and a skipped one skips those that need it (dead
 * path elimination). Asserted: the end of the flow knows of exactly the
 * activities that were done.
 *
 * In the manner of a row of Table 1 of "Sound Transaction-based Reduction
 * without Cycle Detection" (FlowTest, there translated from BPEL).
 *
 * expect: safe
 */

mtype = { done, skipped };

chan ab = [1] of { mtype };
chan ac = [1] of { mtype };
chan bd = [1] of { mtype };
chan be = [1] of { mtype };
chan ce = [1] of { mtype };
chan df = [1] of { mtype };
chan ef = [1] of { mtype };

bool made_a, made_b, made_c, made_d, made_e;

inline decide()
{
	if
	:: state = done
	:: state = skipped
	fi
}

inline work(made)
{
	if
	:: state == done ->
		steps = 1;
		steps = 2;
		made = true;
		steps = 0
	:: else
	fi
}

active proctype A()
{
	mtype state;
	byte steps;

	decide();
	work(made_a);
	ab!state;
	ac!state
}

active proctype B()
{
	mtype state;
	byte steps;

	ab?state;
	if
	:: state == done -> decide()
	:: else
	fi;
	work(made_b);
	bd!state;
	be!state
}

active proctype C()
{
	mtype state;
	byte steps;

	ac?state;
	work(made_c);
	ce!state
}

active proctype D()
{
	mtype state;
	byte steps;

	bd?state;
	work(made_d);
	df!state
}

/* joins by "or" */
active proctype E()
{
	mtype state, other;
	byte steps;

	be?state;
	ce?other;
	if
	:: other == done -> state = done
	:: else
	fi;
	other = 0;
	work(made_e);
	ef!state
}

/* joins by "and" */
active proctype F()
{
	mtype left, right;

	if
	:: df?left; ef?right
	:: ef?right; df?left
	fi;
	assert((left == done) == made_d);
	assert((right == done) == made_e);
	assert(!made_d || made_b);
	assert(!made_b || made_a);
	assert(!made_e || made_a)
}
