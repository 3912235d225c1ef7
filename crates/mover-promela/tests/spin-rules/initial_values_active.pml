byte g = 3;
active [2] proctype p() { byte me = _pid; byte twice = me + g; g = twice }
