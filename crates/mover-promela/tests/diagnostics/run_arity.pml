proctype child(byte a; chan c) { skip }
init { run child(1); run chidl(1, 2); child(1) }
