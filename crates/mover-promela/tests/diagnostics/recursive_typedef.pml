typedef T { byte a; T t };
active proctype p() { T x; skip }
