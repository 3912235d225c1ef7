# as q06, but x stays shared: {T1,T2} is persistent, and T1 may also wait for ever without being emitted
var x 2 = 0
var y 2 = 0
var d 2 = 0
var z 2 = 0
thread T1
  choose g w
  w: assume y == 1
  g: x := 0
  d := 1
thread T2
  local b 2 = 0
  assume d == 1
  b := x
thread T3
  z := 1
thread T4
  local c 2 = 0
  c := z
