/*
 * Alternating bit protocol over lines that lose messages
 *
 * The sender repeats a message until the bit comes back, polling the line; the
 * receiver acknowledges whatever it gets and delivers what is new. Preparing
 * and delivering a message takes several steps of their own. Asserted: messages
 * are delivered in order, each once.
 *
 * A row of Table 1 of "Sound Transaction-based Reduction without Cycle
 * Detection" (AlternatingBit).
 *
 * expect: safe
 */

#ifndef SIZE
#define SIZE 1
#endif
#ifndef VALUES
#define VALUES 4
#endif

chan line = [SIZE] of { bit, byte };
chan back = [SIZE] of { bit };

active proctype Sender()
{
	bit tag, answer;
	byte value, packed;

	do
	:: packed = value;
		packed = (packed + 1) % VALUES;
		do
		:: nfull(line) -> line!tag, packed
		:: skip /* lost */
		:: nempty(back) ->
			back?answer;
			if
			:: answer == tag -> break
			:: else
			fi
		od;
		answer = 0;
		tag = 1 - tag;
		value = packed;
		packed = 0
	od
}

active proctype Receiver()
{
	bit tag, expected;
	byte value, last, check;

	do
	:: line?tag, value;
		if
		:: tag == expected ->
			check = (last + 1) % VALUES;
			assert(value == check);
			check = 0;
			last = value;
			expected = 1 - expected
		:: else
		fi;
		value = 0;
		if
		:: nfull(back) -> back!tag
		:: skip /* lost */
		fi;
		tag = 0
	od
}
