/* plan: done is shared, so counting and waiting do not move; statically x is not protected, for init reads it behind the join without a lock */
byte done; byte x; bool m;
proctype P() { atomic { !m -> m = true }; x++; m = false; done++ }
init { byte l; run P(); run P(); done == 2; l = x }
