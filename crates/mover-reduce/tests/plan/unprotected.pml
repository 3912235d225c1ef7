/* plan: x is shared without a lock: each access is a transaction of its own */
byte x;
active [2] proctype P() { byte l; l = x; x = l + 1 }
