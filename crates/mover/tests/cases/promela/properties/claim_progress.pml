// expect: unsafe claims
// The second option never passes the label.
// message: the progress label `progress_here` in line 6 is violated
byte x;
active proctype P() { do
  :: progress_here: x = 1
  :: x = 2
od }
