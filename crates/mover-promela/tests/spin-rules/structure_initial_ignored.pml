/* An initial value of a structure is read and ignored; fields keep those of their type. */
typedef Inner { byte a = 4; byte b }
typedef Outer { Inner inner[2]; int row[2]; bool flag }
Outer all[3] = 7;
Outer one = 3;
active proctype P()
{
	Outer own = 5;
	byte sum;
	sum = all[0].inner[1].a + all[2].row[1] + one.inner[0].b + own.inner[0].a;
	assert(sum == 8);
	assert(own.row[0] == 0 && !one.flag)
}
