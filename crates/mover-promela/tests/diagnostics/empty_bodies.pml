active proctype p() { }
active proctype q() { if fi; do od; atomic { }; if :: :: skip fi }
