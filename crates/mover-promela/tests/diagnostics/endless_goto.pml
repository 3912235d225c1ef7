active proctype p() { skip; a: goto b; b: goto a }
