/*
 * Alternating bit protocol over lossy channels
 *
 * The sender repeats a frame until it is acknowledged with the same bit; a
 * third process takes messages out of both channels at will.
 * The receiver asserts that it accepts the values 0, 1, 2, ... (mod MAX) in
 * order, none lost and none twice. One bit is enough since the channels
 * keep the order.
 *
 * expect: safe
 * scale: -DCAP=9 -DMAX=32
 */

#ifndef CAP
#define CAP 2
#endif
#ifndef MAX
#define MAX 4
#endif

chan data = [CAP] of { byte, bit };
chan acks = [CAP] of { bit };

active proctype Sender()
{
	byte value;
	bit seq, a;

	do
	:: data!value, seq
	:: acks?a ->
		if
		:: a == seq ->
			seq = 1 - seq;
			value = (value + 1) % MAX
		:: else
		fi
	od
}

active proctype Receiver()
{
	byte v, expected;
	bit s, seq;

	do
	:: data?v, s ->
		if
		:: s == seq ->
			assert(v == expected);
			expected = (expected + 1) % MAX;
			seq = 1 - seq
		:: else
		fi;
		acks!s
	od
}

active proctype Loss()
{
	do
	:: data?_, _
	:: acks?_
	od
}
