/* The text of an actual parameter gets no parentheses. */
byte x = 1, y;
inline mul(a, b) { y = a * b }
active proctype p() { mul(x + 1, 2); assert(y == 3) }
