/*
 * Shipping an order as a workflow
 *
 * A customer orders some items; the service ships the order complete, or item
 * by item as the warehouse has them, until all are sent, with a notice for each
 * parcel. The warehouse picks as many as it likes of what is asked for. Asserted:
 * the customer gets what it ordered, no more, and notices add up.
 *
 * In the manner of a row of Table 1 of "Sound Transaction-based Reduction
 * without Cycle Detection" (Shipping, there translated from BPEL).
 *
 * expect: safe
 */

#ifndef ITEMS
#define ITEMS 3
#endif

mtype = { complete, partial };

chan order = [1] of { mtype, byte };
chan notice = [1] of { byte };
chan pick = [1] of { byte };
chan picked = [1] of { byte };

byte parcels;	/* items on their way */

active proctype Customer()
{
	byte ordered, received, items;
	mtype kind;

	if
	:: kind = complete
	:: kind = partial
	fi;
	if
	:: ordered = 1
	:: ordered = ITEMS
	fi;
	order!kind, ordered;
	do
	:: received < ordered ->
		notice?items;
		received = received + items;
		assert(items > 0 && received <= ordered);
		assert(kind == partial || items == ordered);
		assert(parcels >= received);
		items = 0
	:: else -> break
	od
}

active proctype Service()
{
	byte asked, sent, items;
	mtype kind;

	order?kind, asked;
	if
	:: kind == complete ->
		items = asked;
		parcels = parcels + items;
		notice!items
	:: else ->
		do
		:: sent < asked ->
			pick!asked - sent;
			picked?items;
			sent = sent + items;
			parcels = parcels + items;
			notice!items;
			items = 0
		:: else -> break
		od
	fi
}

active proctype Warehouse()
{
	byte wanted, found;

end:
	do
	:: pick?wanted;
		found = 1;
		do
		:: found < wanted -> found++
		:: break
		od;
		wanted = 0;
		picked!found;
		found = 0
	od
}
