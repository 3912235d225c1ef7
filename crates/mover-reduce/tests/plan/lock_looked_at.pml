/* plan: Watcher looks at m from outside, so taking and releasing m do not move; x is protected by m all the same */
bool m; byte x; bool seen;
active [2] proctype P() { atomic { !m -> m = true }; x++; m = false }
active proctype Watcher() { seen = m }
