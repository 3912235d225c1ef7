/* plan: c is used by two threads: sending and receiving do not move statically */
chan c = [1] of { byte };
active proctype P() { c!1; c!2 }
active proctype Q() { byte l; c?l; c?l }
