// expect: unsafe unreach-call
// The formula must have room for those that are started by somebody who was started.
// options: --property unreach-call
// engines: explicit bmc ic3 token
byte n;
active proctype P() {
  if
  :: n < 3 -> n++; run P()
  :: else -> assert(false)
  fi;
  do :: n == 100 od
}
