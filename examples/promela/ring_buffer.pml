/*
 * Ring buffer for one writer and one reader without a lock
 *
 * The writer owns the tail index, the reader owns the head index; one slot
 * stays empty to tell full from empty. Slots are cleared after reading.
 * Asserted: the writer only fills empty slots, and the reader gets the
 * numbers in order. It works since an index moves after the slot is used.
 *
 * expect: safe
 * scale: -DSIZE=20
 */

#ifndef SIZE
#define SIZE 4
#endif
#define MAX (2 * SIZE + 1)

byte slot[SIZE];
byte head, tail;

active proctype Writer()
{
	byte n = 1;

	do
	:: (tail + 1) % SIZE != head ->
		assert(slot[tail] == 0);
		slot[tail] = n;
		tail = (tail + 1) % SIZE;
		n = n % MAX + 1
	od
}

active proctype Reader()
{
	byte x, expected = 1;

	do
	:: head != tail ->
		x = slot[head];
		assert(x == expected);
		slot[head] = 0;
		head = (head + 1) % SIZE;
		expected = expected % MAX + 1
	od
}
