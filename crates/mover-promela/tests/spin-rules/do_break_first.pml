/* A break as the first statement of an option is a step. */
byte x;
active proctype p() { do :: x < 3 -> x++ :: break od; x = 7 }
