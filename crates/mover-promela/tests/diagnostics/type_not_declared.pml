Message m;
active proctype p() { skip }
typedef Message { byte a };
