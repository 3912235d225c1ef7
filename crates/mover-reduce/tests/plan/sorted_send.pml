/* plan: sorted sends of two threads to c do not move statically */
chan c = [3] of { byte };
active [2] proctype P() { c!!_pid; c!!2 }
active proctype Q() { byte l; c?l; c?1 }
