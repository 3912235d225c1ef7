// expect: safe
// Processes in a ring, each with its own channels as parameters: sends and receives go first.
byte done;
chan q[3] = [2] of { byte };
proctype Node(chan in, out; byte own) {
  byte got;
  out!own;
  do
  :: in?got -> if
               :: got == own -> break
               :: else -> out!got
               fi
  od;
  done++
}
init { atomic { run Node(q[0], q[1], 1); run Node(q[1], q[2], 2); run Node(q[2], q[0], 3) } }
ltl p { <> [] (done == 3) }
