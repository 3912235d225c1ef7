/* Within a d_step the first option that is possible is taken. */
byte x;
active [2] proctype p() { d_step { x++; if :: x > 1 -> x = 7 :: x > 0 -> x = 3 :: else -> x = 1 fi; do :: x < 9 -> x++ :: else -> break od }; x = 0 }
