/* plan: k is written after the first run, so it is not protected and reads of it do not move */
byte k; byte x;
proctype P() { byte l; l = k; x = l }
init { run P(); k = 4; run P() }
