/* plan: x is accessed with both a and b held by P, with b alone by Q: protected by b */
bool a; bool b; byte x;
active proctype P() {
  atomic { !a -> a = true };
  atomic { !b -> b = true };
  x++;
  b = false;
  a = false
}
active proctype Q() { atomic { !b -> b = true }; x++; b = false }
active proctype R() { atomic { !a -> a = true }; a = false }
