/*
 * Producer and consumer by rendezvous, with a buffer process between them
 *
 * All channels are synchronous. The buffer process is a circular array; it
 * offers to take an item while it has room and to hand one out while it has
 * any. Asserted: the consumer sees the numbers in order, and the producer
 * is never more than SIZE + 1 items ahead of the consumer.
 *
 * expect: safe
 */

#ifndef SIZE
#define SIZE 3
#endif
#define MOD (SIZE + 3)

chan put = [0] of { byte };
chan get = [0] of { byte };
byte made, used;		/* items handed over so far, modulo MOD */

active proctype Producer()
{
	byte n;

	do
	:: atomic { put!n -> made = (made + 1) % MOD }
	   assert((made + MOD - used) % MOD <= SIZE + 1);
	   n = (n + 1) % MOD
	od
}

active proctype Buffer()
{
	byte slot[SIZE];
	byte head, count;

	do
	:: count < SIZE ->
		put?slot[(head + count) % SIZE];
		count++
	:: count > 0 ->
		get!slot[head];
		head = (head + 1) % SIZE;
		count--
	od
}

active proctype Consumer()
{
	byte n, expected;

	do
	:: get?n;
	   assert(n == expected);
	   expected = (expected + 1) % MOD;
	   used = (used + 1) % MOD
	od
}
