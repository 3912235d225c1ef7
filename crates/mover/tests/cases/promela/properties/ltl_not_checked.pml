// expect: safe
// What is not checked is in the verdict.
// message: (but 
ltl p { [] true }
active proctype P() { skip }
