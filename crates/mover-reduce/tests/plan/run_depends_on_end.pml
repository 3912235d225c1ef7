/* plan: P's end frees a number that Q's run takes: neither moves */
byte n;
proctype R() { end: false }
active proctype P() { skip }
active proctype Q() { n = run R(); end: false }
