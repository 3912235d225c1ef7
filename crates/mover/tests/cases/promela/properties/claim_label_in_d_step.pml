// expect: unknown
// message: the progress label `progress_inside` in line 4 is not checked: the label `progress_inside` is within a step
byte x;
active proctype P() { do :: d_step { x = 1; progress_inside: x = 0 } od }
