active proctype p() { later = 1 }
byte later;
