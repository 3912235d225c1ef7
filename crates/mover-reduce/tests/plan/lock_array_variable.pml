/* plan: locks in a row are known by the row: taking m[i] moves right, giving back moves left */
bool m[2]; byte x;
proctype P(byte i) {
  atomic { m[i] == 0 -> m[i] = 1 };
  m[i] = 0
}
init { run P(0); run P(1) }
