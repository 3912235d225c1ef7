chan q = [2] of { byte };
byte x;
active proctype s() { nfull(q) -> q!3; full(q) -> x = 1; nempty(q) }
active proctype r() { empty(q) -> q!4; nempty(q) -> x = x + len(q); full(q) }
