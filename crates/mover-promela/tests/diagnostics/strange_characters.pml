byte x;
active proctype p() { x = 1 § 2; x = $3 }
