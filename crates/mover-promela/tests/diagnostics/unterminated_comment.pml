byte x;
/* this never ends
active proctype p() { skip }
