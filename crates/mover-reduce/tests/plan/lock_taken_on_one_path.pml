/* plan: m is held on one way to x++ only, so x is not protected there; giving back is not certain: no lock */
bool m; byte x;
active [2] proctype P() {
  if
  :: atomic { !m -> m = true }
  :: true
  fi;
  x++;
  m = false
}
