byte n;
active [n + 1] proctype p() { skip }
