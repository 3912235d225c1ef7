/* plan: the writes of Q move once P has written; Q's other write is no conflict, because one thread runs Q */
byte x;

active proctype P() {
    x = 1
}

active proctype Q() {
    x = 2;
    x = 3
}
