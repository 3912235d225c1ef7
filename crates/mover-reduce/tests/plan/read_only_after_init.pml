/* plan: k is written before the first run only; reading it moves both ways */
byte k; byte x;
proctype P() { byte l; l = k; l = l + k; x = l }
init { k = 4; run P(); run P() }
