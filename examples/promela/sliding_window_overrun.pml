/*
 * Sliding window with too few sequence numbers
 *
 * Go back N with a window of W and sequence numbers modulo W. When all the
 * acknowledgements of a full window are lost, the sender goes back and the
 * receiver takes the repeated first frame for the next new one. Its
 * assertion that values arrive in order fails.
 *
 * expect: unsafe unreach-call
 */

#ifndef W
#define W 2
#endif
#ifndef CAP
#define CAP 1
#endif
#define SEQ W			/* one too few */
#define MAX (2 * W)

chan data = [CAP] of { byte, byte };	/* sequence number, value */
chan acks = [CAP] of { byte };

active proctype Sender()
{
	byte base, sent, a;

	do
	:: sent < W ->
		data!((base + sent) % SEQ), ((base + sent) % MAX);
		sent++
	:: sent > 0 ->
		sent = 0
	:: acks?a ->
		/* one acknowledgement per frame, in order */
		if
		:: a == base % SEQ ->
			base = (base + 1) % MAX;
			sent = (sent > 0 -> sent - 1 : 0)
		:: else
		fi
	od
}

active proctype Receiver()
{
	byte s, v, expected;

	do
	:: data?s, v ->
		if
		:: s == expected % SEQ ->
			assert(v == expected);
			expected = (expected + 1) % MAX
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
