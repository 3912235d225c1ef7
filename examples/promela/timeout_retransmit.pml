/*
 * Stop and wait with retransmission on timeout
 *
 * Two links forward or drop each message. The sender repeats a frame when
 * nothing else can happen any more (timeout), that is, when the frame or its
 * acknowledgement is lost. Every frame is lost at most LOSSES times.
 * Asserted: frames arrive in order and only once, an acknowledgement is
 * always the awaited one, and the sender needs no more than LOSSES repeats.
 *
 * expect: safe
 */

#ifndef FRAMES
#define FRAMES 4
#endif
#ifndef LOSSES
#define LOSSES 2
#endif

chan out = [1] of { byte };	/* sender to link */
chan inp = [1] of { byte };	/* link to receiver */
chan ack_out = [1] of { byte };
chan ack_inp = [1] of { byte };
byte lost;			/* losses of the current frame */
bool done;

active proctype Sender()
{
	byte n, a, repeats;

	do
	:: n < FRAMES ->
		out!n;
wait:		if
		:: ack_inp?a ->
			assert(a == n);
			n++;
			repeats = 0;
			lost = 0
		:: timeout ->
			repeats++;
			assert(repeats <= LOSSES && repeats == lost);
			out!n;
			goto wait
		fi
	:: else -> break
	od;
	done = true
}

proctype Link(chan from, to)
{
	byte m;

end:	do
	:: from?m ->
		if
		:: to!m
		:: lost < LOSSES -> lost++
		fi
	od
}

active proctype Receiver()
{
	byte n, expected;

end:	do
	:: inp?n ->
		if
		:: n == expected -> expected++
		:: else -> assert(n + 1 == expected)
		fi;
		ack_out!n
	:: done ->
		assert(expected == FRAMES);
		break
	od
}

init
{
	atomic {
		run Link(out, inp);
		run Link(ack_out, ack_inp)
	}
}
