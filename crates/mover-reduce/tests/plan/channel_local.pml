/* plan: channels known by a local variable are one object, the channels, which nothing protects: no movers, though each thread has its own */
byte x;
active [2] proctype P() { chan c = [1] of { byte }; byte l; c!1; c?l; x = l }
