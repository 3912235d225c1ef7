/*
 * Sliding window protocol (go back N) over lossy channels
 *
 * The sender has up to W frames on the way and can go back to the oldest one
 * at any time. Sequence numbers count modulo W + 1; acknowledgements carry
 * the number expected next. A third process loses messages.
 * Asserted: the receiver accepts the values in order, and an acknowledgement
 * never covers a frame that was not sent.
 *
 * expect: safe
 * scale: -DW=3 -DCAP=3
 */

#ifndef W
#define W 2
#endif
#ifndef CAP
#define CAP 2
#endif
#define SEQ (W + 1)
#define MAX (2 * SEQ)		/* values, to tell a frame from its namesake */

chan data = [CAP] of { byte, byte };	/* sequence number, value */
chan acks = [CAP] of { byte };

active proctype Sender()
{
	byte base;	/* oldest value not acknowledged */
	byte sent;	/* frames sent since the last going back */
	byte high;	/* frames sent at least once */
	byte a;

	do
	:: atomic {
		sent < W && nfull(data) ->
		data!((base + sent) % SEQ), ((base + sent) % MAX);
		sent++;
		high = (sent > high -> sent : high)
	   }
	:: sent > 0 ->
		sent = 0
	:: atomic {
		acks?a ->
		a = (a + SEQ - base % SEQ) % SEQ;	/* newly acknowledged */
		assert(a <= high);
		base = (base + a) % MAX;
		high = high - a;
		sent = (sent > a -> sent - a : 0);
		a = 0
	   }
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
		acks!(expected % SEQ)
	od
}

active proctype Loss()
{
	do
	:: data?_, _
	:: acks?_
	od
}
