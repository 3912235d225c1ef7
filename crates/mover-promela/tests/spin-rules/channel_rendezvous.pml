chan q = [0] of { mtype, byte };
mtype = { ping, pong };
byte x;
active proctype s() { q!ping(1); q!pong(2); q?ping,_ }
active proctype r() { byte y; q?ping,y; q?pong(y); x = y; q!ping(0) }
