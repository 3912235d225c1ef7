byte x;
active [2] proctype p() { skip; x = 1; skip }
