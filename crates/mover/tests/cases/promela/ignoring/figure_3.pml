// expect: unsafe unreach-call
// Figure 3 of "Sound Transaction-based Reduction without Cycle Detection". The unsound search never says safe.
// engines: explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs
// expect: unknown
// engines: explicit/static,left,phase,dynamic/unsound
// message: misses errors
bool m; byte x, y;
active proctype T1() {
	atomic { !m -> m = true }; y = 42; x = 1; m = false;
	do :: skip od
}
active proctype T2() { atomic { !m -> m = true }; assert(x == 0); m = false }
active proctype T3() { y = 10 }
