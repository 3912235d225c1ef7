/* plan: Q releases what P locked, so m is no lock and x is not protected */
bool m; byte x;
active proctype P() { atomic { !m -> m = true }; x = 1 }
active proctype Q() { m -> x = 2; m = false }
