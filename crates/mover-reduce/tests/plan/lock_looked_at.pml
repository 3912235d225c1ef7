/* plan: Watcher looks at m from outside, so m is no lock and x is not protected */
bool m; byte x; bool seen;
active [2] proctype P() { atomic { !m -> m = true }; x++; m = false }
active proctype Watcher() { seen = m }
