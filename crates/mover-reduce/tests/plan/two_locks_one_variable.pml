/* plan: x is written under a or under b, never under a common lock: not protected */
bool a; bool b; byte x;
active proctype P() { atomic { !a -> a = true }; x++; a = false }
active proctype Q() { atomic { !b -> b = true }; x++; b = false }
active proctype R() { atomic { !a -> a = true }; skip; a = false; atomic { !b -> b = true }; skip; b = false }
