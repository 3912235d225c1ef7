/* plan: k is never written, so reading it moves both ways */
byte k = 3; byte x;
active [2] proctype P() { byte l; l = k; l = l + k; x = l }
