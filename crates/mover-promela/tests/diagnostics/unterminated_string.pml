active proctype p() { printf("no end) }
