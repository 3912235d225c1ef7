/* A receive that names too few fields is an error when it is executed; a poll is not.
   (SPIN undoes such a receive incorrectly: fields that are not named become 0.) */
chan c = [2] of { byte, byte };
active proctype P()
{
	byte x;
	c!1,0;
	c!3,0;
	if
	:: c?[1] -> x = 1
	:: c?[3] -> x = 3
	fi;
	c?x
}
active proctype Q()
{
	byte y, z;
	c?y,z;
	assert(y == 1 && z == 0)
}
