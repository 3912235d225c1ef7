byte x
active proctype p()
{ byte y
  do
  :: x < 3 ->
     x++
     { y = x }
     if
     :: y == 2
        break
     :: else
     fi
  :: else
     break
  od
  unless_x: skip
}
