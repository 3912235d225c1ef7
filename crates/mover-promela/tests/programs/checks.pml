/* What can fail at run time has an edge to an error, short circuits honoured. */
byte a[3], n;
chan c;
active proctype p() {
    a[n] = 6 / n;
    if :: n < 3 && a[n] > 1 :: (n == 0 -> 1 : 5 % n) > 2 fi;
    c!1;
    n = 1 << n
}
