/* plan: asking for the length of a shared channel or polling it does not move */
chan c = [2] of { byte }; byte seen;
active proctype P() { c!1; c!2 }
active proctype Q() { len(c) > 0; c?[1]; nempty(c); seen = 1 }
