/* plan: no lock by shape: flag and turn do not move, x is not protected statically */
bool flag[2]; bool turn; byte x;
active [2] proctype P() {
  flag[_pid] = 1;
  turn = _pid;
  flag[1 - _pid] == 0 || turn == 1 - _pid;
  x++;
  flag[_pid] = 0
}
