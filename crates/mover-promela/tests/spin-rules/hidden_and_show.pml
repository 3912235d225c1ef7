show byte x; local byte y;
active proctype p() { x = 1; y = x; x = y + 1 }
