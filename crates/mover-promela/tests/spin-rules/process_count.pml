byte x;
proctype child() { x = _nr_pr }
init { run child(); (_nr_pr == 1) -> run child(); x = _nr_pr }
