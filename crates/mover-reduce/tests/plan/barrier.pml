/* plan: arrived does not move; dynamically x[_pid] and y[_pid] move where the other thread cannot come to the same cell */
byte arrived; byte x[2]; byte y[2];
active [2] proctype P() {
  x[_pid] = 1;
  arrived++;
  arrived == 2;
  y[_pid] = x[1 - _pid]
}
