/*
 * Producers and one consumer with a buffered channel
 *
 * PRODUCERS processes number their items 0..ITEMS-1 and put them into a
 * channel with SIZE places; the consumer takes PRODUCERS * ITEMS items.
 * Asserted: the items of each producer arrive in order, none is missing, and
 * the buffer is empty at the end. A channel keeps the order of its messages.
 *
 * expect: safe
 * scale: -DPRODUCERS=3 -DITEMS=4 -DSIZE=3
 */

#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef ITEMS
#define ITEMS 3
#endif
#ifndef SIZE
#define SIZE 2
#endif

chan buffer = [SIZE] of { pid, byte };

active [PRODUCERS] proctype Producer()
{
	byte n;

	do
	:: n < ITEMS ->
		buffer!_pid, n;
		n++
	:: else -> break
	od
}

active proctype Consumer()
{
	pid who;
	byte n, taken;
	byte expected[PRODUCERS];

	do
	:: buffer?who, n ->
		assert(n == expected[who]);
		expected[who]++;
		taken++
	:: taken == PRODUCERS * ITEMS ->
		break
	od;
	assert(empty(buffer));
	for (who : 0 .. PRODUCERS - 1) {
		assert(expected[who] == ITEMS)
	}
}
