/* Another way to write the arrow. */
byte x;
active proctype P()
{
	do
	:: x < 3 --> x++
	:: else --> break
	od;
	x == 3 --> assert(x == 4)
}
