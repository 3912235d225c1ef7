chan q = [1] of { byte };
byte x;
active proctype p() { do :: q?x :: timeout -> break od; x = 9 }
active proctype s() { q!1; q!2 }
