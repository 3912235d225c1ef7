/* plan: behind x = 1 the thread loops with left movers for ever: the transaction has no end, which ignoring provisos must cut */
byte x; byte a;
active proctype P() { x = 1; do :: a = 1 - a od }
active proctype Q() { x = 2 }
