/* plan: a thread that finds m held ends the run, which nobody observes: taking m moves right, x++ both ways, giving m back left */
bool m; byte x;
active [2] proctype P() {
  atomic {
    if
    :: !m -> m = true
    :: m -> do :: true od
    fi
  };
  x++;
  m = false
}
