/* plan: exclusive ends claimed by xs and xr; the channel is still one object to static movers */
chan c = [1] of { byte };
active proctype P() { xs c; c!1; c!2 }
active proctype Q() { byte l; xr c; c?l; c?l }
