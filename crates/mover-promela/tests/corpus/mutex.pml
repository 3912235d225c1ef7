bool flag[2]; byte turn, ncrit;
active [2] proctype user() {
again: flag[_pid] = true; turn = _pid;
	(flag[1 - _pid] == false || turn == 1 - _pid);
	ncrit++; assert(ncrit == 1); ncrit--;
	flag[_pid] = false; goto again
}
