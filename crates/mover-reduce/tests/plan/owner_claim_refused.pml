/* plan: the claim on account is refused: thread Q takes ownership away from others */
byte owner = 255; byte account;
/*@ exclusive(account, owner == _pid) */
active [2] proctype P() {
  atomic { owner == 255 -> owner = _pid };
  account++;
  owner = 255
}
active proctype Q() { owner = _pid; account = 0 }
