chan server = [1] of { chan };
byte x;
active [2] proctype client() { chan mine = [1] of { byte }; server!mine; mine?x }
active proctype serve() { chan c; do :: server?c -> c!_pid :: timeout -> break od }
