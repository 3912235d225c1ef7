/* plan: receiving and sending without buffer do not move, and nothing moves from where the rendezvous is offered */
chan s = [0] of { byte }; byte a;
active proctype P() { a = 1; s!1; a = 2 }
active proctype Q() { byte l; l = 5; s?l; l = 7 }
