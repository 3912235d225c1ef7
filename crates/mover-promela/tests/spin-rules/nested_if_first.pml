/* A choice that comes first in an option melts into the outer choice. */
byte x;
active proctype p() { if :: if :: x == 0 -> x = 1 :: x == 1 -> x = 2 fi; x = x + 4 :: { x = 8; x = 9 } :: do :: x == 0 -> break :: x = 3 -> break od fi }
active proctype q() { x = 1 }
