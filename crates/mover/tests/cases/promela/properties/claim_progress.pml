// expect: unsafe claims
// The second option never passes the label.
// message: the progress label `progress_here` in line 6 is violated
byte x;
active proctype P() { do
  :: x = 1; progress_here: x = 3
  :: x = 2
od }
