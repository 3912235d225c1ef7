active proctype p() { byte x; _pid = 1; _nr_pr++; x = _; x = _last; x = np_; x = enabled(0) }
