byte x;
active proctype p() { byte my_i; select (my_i : 1 .. 3); x = my_i }
