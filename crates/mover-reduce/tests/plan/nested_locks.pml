/* plan: a then b: two right movers, x under both, two left movers: one transaction */
bool a; bool b; byte x;
active [2] proctype P() {
  atomic { !a -> a = true };
  atomic { !b -> b = true };
  x++;
  b = false;
  a = false
}
