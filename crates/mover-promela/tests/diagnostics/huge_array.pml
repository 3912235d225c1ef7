byte a[2000000];
int b[1000000];
int c[1000000];
active proctype p() { skip }
