// expect: unknown
// message: the never claim in line 4 is not checked
// engines: auto bmc
never { do :: skip od }
active proctype P() { skip }
