/* plan: a semaphore with one permit is a lock (in a row of one): s > 0 -> s-- moves right, s++ moves left */
byte s = 1; byte x;
active [2] proctype P() { atomic { s > 0 -> s-- }; x++; s++ }
