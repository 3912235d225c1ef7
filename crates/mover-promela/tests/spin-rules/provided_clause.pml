byte turn;
active [2] proctype p() provided (turn == _pid) { turn = 1 - turn; turn = 1 - _pid }
