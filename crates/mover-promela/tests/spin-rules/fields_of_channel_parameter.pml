/* Which channel is meant is known only at run time. */
chan pairs = [1] of { byte, byte };
chan singles = [1] of { byte };
proctype P(chan c) { byte x; c!3; c?x; assert(x == 3) }
init { run P(singles); run P(pairs) }
