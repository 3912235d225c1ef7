/* plan: local variables disturb nobody: the thread is one transaction of both movers */
active [2] proctype P() { byte l; l = 1; l++; l = l * 2 }
