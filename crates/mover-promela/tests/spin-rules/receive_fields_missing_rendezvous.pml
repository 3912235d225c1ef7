/* As for a channel with a buffer. */
chan c = [0] of { byte, byte };
active proctype P() { c!1,2 }
active proctype Q() { byte x; if :: c?x :: skip fi; x = 3 }
