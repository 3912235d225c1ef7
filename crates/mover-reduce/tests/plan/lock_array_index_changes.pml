/* plan: i changes while m[i] is held, so what is given back may be another lock: not a row of locks */
bool m[2];
active [2] proctype P() {
  byte i;
  atomic { m[i] == 0 -> m[i] = 1 };
  i = 1 - i;
  m[i] = 0
}
