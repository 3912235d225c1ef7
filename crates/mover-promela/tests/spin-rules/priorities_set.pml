byte x;
active proctype a() priority 3 { x = 1; set_priority(_pid, 1); x = 2; x = get_priority(1) }
active proctype b() priority 2 { x = 5; _priority = 1; x = _priority + 6 }
