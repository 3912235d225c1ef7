/* plan: peeking reads the shared channel and does not move */
chan c = [2] of { byte };
active proctype P() { c!1; c!2 }
active proctype Q() { byte l; c?<l>; c??2; l = 0 }
