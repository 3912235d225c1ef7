/* plan: the claim on account is accepted: owner == _pid holds for one thread at a time */
byte owner = 255; byte account; byte seen;
/*@ exclusive(account, owner == _pid) */
active [2] proctype P() {
  atomic { owner == 255 -> owner = _pid };
  account++;
  owner = 255
}
active proctype Watcher() { seen = owner }
