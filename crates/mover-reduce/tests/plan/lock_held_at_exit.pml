/* plan: P exits while it holds m; nobody releases it, x moves both ways under m */
bool m; byte x;
active [2] proctype P() { atomic { !m -> m = true }; x++ }
