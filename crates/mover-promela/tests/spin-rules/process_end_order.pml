/* Processes die in the reverse order of their creation. */
active [3] proctype p() { skip }
