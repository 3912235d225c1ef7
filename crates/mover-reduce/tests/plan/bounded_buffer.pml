/* plan: taking m waits for count, too: a right mover, since m is held behind it; buffer and count move both ways under m */
bool m; byte count; byte buffer[2];
active proctype Producer() {
  atomic { !m && count < 2 -> m = true };
  buffer[count] = 1;
  count++;
  m = false
}
active proctype Consumer() {
  atomic { !m && count > 0 -> m = true };
  count--;
  buffer[count] = 0;
  m = false
}
