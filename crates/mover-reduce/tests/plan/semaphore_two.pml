/* plan: a semaphore with two permits is no lock: x under it is not protected */
byte s = 2; byte x;
active [2] proctype P() { atomic { s > 0 -> s-- }; x++; s++ }
