/*
 * A transaction that can be cancelled at any point (unless)
 *
 * A worker moves an amount from one place to another in several steps. A
 * cancel message interrupts it between any two steps; the escape clause then
 * restores the saved values.
 * Asserted: after each transaction, finished or cancelled, the sum is
 * unchanged, and a cancelled one has no effect at all.
 *
 * expect: safe
 */

#ifndef TOTAL
#define TOTAL 4
#endif

mtype = { cancel };

chan signal = [1] of { mtype };
byte a = TOTAL, b;

active proctype Worker()
{
	byte saved_a, saved_b, amount;

	do
	:: atomic { saved_a = a; saved_b = b }
	   {
		select (amount : 1 .. TOTAL);
		if
		:: a >= amount ->
			a = a - amount;
			b = b + amount
		:: else ->
			b = b - (amount <= b -> amount : b);
			a = TOTAL - b
		fi
	   } unless {
		signal?cancel;
		a = saved_a;
		b = saved_b;
		assert(a + b == TOTAL);
		goto next
	   };
	   assert(a + b == TOTAL);
next:	   amount = 0
	od
}

active proctype User()
{
	do
	:: signal!cancel
	od
}
