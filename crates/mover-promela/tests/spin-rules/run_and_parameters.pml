byte sum;
proctype child(byte n; short m) { sum = sum + n; sum = sum + m }
init { run child(1, 2); run child(3, 300) }
