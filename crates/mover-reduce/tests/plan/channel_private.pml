/* plan: c is used by P alone: sending and receiving move both ways */
chan c = [2] of { byte };
active proctype P() { byte l; c!1; c!2; c?l; c?l }
active proctype Q() { skip }
