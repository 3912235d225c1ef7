byte x;
chan c = [1] of { byte };
active proctype A() {
	byte v;
	if
	:: x == 5 ->
		x = 6;
		x = 7
	:: x < 5 ->
		x = 1
	:: else ->
		x = 3;
		printf("no")
	fi;
	do
	:: x == 1 -> break
	:: x > 3 ->
		atomic {
			x++;
			x = 2
		}
	od;
	c?v;
	d_step {
		x = 0;
		x = 1
	}
	assert(x == 1);
	do
	:: x == 1
	od;
	x = 9
}
active proctype B() {
	if
	:: x == 1 -> c!3
	:: skip
	fi
}
proctype Never() {
	x = 2;
	x = 3
}
