/* plan: turn hands x over; statically x is not protected, dynamically x moves only where the other thread is past it */
mtype = { ping, pong };
mtype turn = ping; byte x;
active proctype P() { turn == ping; x = 1; turn = pong }
active proctype Q() { turn == pong; x = 2; turn = ping }
