pid last;
proctype child() { skip }
init { last = run child(); last = run child(); assert(last == 2 || last == 1) }
