/* plan: tickets are no lock by shape: next and serving do not move, x is not protected */
byte next; byte serving; byte x;
active [2] proctype P() {
  byte mine;
  atomic { mine = next; next++ };
  serving == mine;
  x++;
  serving++
}
