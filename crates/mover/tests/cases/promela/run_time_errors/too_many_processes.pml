// expect: unsafe unreach-call
// message: too many processes
// message: too_many_processes.pml:8
short n;
proctype P() { false }
init {
  do
  :: n < 300 -> run P(); n++
  :: else -> break
  od
}
