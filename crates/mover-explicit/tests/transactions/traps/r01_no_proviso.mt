# as q01, but T3 has a successor: {T1,T2} has fewer than all threads, in every state
var w 3 = 0
var y 3 = 0
thread T1
  l: if w == 2 goto l else l
thread T2
  l: w := 2
  goto l
thread T3
  y := 1
  y := 2
  assert 0
thread T4
  local a 3 = 0
  a := y
