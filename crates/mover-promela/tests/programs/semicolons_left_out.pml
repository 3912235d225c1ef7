byte x
active proctype p()
{
  x = 1
  if
  :: x == 1 -> x = 2
  :: else
  fi
  do
  :: x < 4
     x++
  :: else
     break
  od
  { x = 7 }
  x = 8
}
