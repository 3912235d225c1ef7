/* plan: a is touched by one proctype, but two threads run it: not protected */
byte a;
active [2] proctype P() { a = 1; a++ }
