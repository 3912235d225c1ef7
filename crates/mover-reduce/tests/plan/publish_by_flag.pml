/* plan: data is written before ready is set; dynamically the reader's l = data moves both ways where P is past its write */
bool ready; byte data;
active proctype P() { data = 7; ready = true }
active proctype Q() { byte l; ready; l = data; assert(l == 7) }
