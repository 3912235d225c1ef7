/* plan: P ends while it holds m; nobody gives it back, x moves both ways under m */
bool m; byte x;
active [2] proctype P() { atomic { !m -> m = true }; x++ }
