/* Two threads with four accesses each: the example of Ganai and Kundu's paper on
 * mutually atomic transactions (its Figure 1). Of the 32 ways to hand control from
 * one thread to the other 8 are needed to see everything that can happen:
 *
 *     mover explain --mat bench/mat/figure1.pml
 */
byte x, y, z;

active proctype First() {
	byte a;
	y = 1;
	a = x;
	a = z;
	a = y;
	assert(a == 1 || a == 2)
}

active proctype Second() {
	byte b;
	b = x;
	z = b + 1;
	b = x;
	y = b + 2
}
