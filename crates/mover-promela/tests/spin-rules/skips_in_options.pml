/* Of several skips in a row in an option only the first stays. */
byte x;
active [2] proctype p() { do :: x == 0 -> skip; skip; skip; x = 1; skip; printf("a\n"); skip; x = 2 :: x == 2 -> break od }
