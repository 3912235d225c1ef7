/* The same name in blocks side by side is two variables. */
byte x;
active proctype p() { { byte y = 1; x = y } ; { byte y = 2; x = y + 1 } }
active proctype q() { if :: true -> { byte z; z = x; x = z + 1 } :: x > 0 -> { byte z = 4; x = z } fi }
