// expect: unsafe unreach-call
// engines: all
// message: xs assertion violated: another process uses `c!2`
chan c = [2] of { byte };
active proctype Sender() { xs c; c!1 }
active proctype Other() { c!2 }
active proctype Receiver() { byte x; c?x; c?x }
