/* plan: the taking of m stands in the middle of an atomic sequence that may stop there: m is no lock */
bool m; byte x; byte y;
active [2] proctype P() { atomic { y++; !m -> m = true }; x++; m = false }
