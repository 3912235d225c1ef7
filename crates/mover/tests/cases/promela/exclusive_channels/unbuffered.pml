// expect: unsafe unreach-call
// message: `xs c` is about a channel without a buffer
chan c = [0] of { byte };
active proctype P() { xs c; c!1 }
active proctype Q() { byte x; c?x }
