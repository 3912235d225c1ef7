/* plan: m names its owner, so the guard before x++ says that the thread holds m although not every path there takes it; x is protected by m */
byte m; byte x;
active [2] proctype P() {
  if
  :: atomic { m == 0 -> m = _pid + 1 }
  :: true
  fi;
  if
  :: atomic { m == _pid + 1 -> x++ }
  :: m != _pid + 1
  fi;
  if
  :: atomic { m == _pid + 1 -> m = 0 }
  :: m != _pid + 1
  fi
}
