byte x;
active proctype low() priority 1 { x = x + 1; x = x + 1 }
active proctype high() priority 5 { x = x * 2; x = x * 2; x == 1 }
