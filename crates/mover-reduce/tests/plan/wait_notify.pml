/* plan: waiting is protected by m: giving m back in wait is a left mover, taking it again a right mover, notifying a both mover */
byte m; bool waiting[2]; byte items;
inline lock() { atomic { m == 0 -> m = _pid + 1 } }
inline wait() {
  d_step { m == _pid + 1 -> waiting[_pid] = true; m = 0 };
  atomic { m == 0 && !waiting[_pid] -> m = _pid + 1 }
}
inline notify_all() { d_step { m == _pid + 1 -> waiting[0] = false; waiting[1] = false } }
active proctype Producer() {
  lock(); items++; notify_all(); m = 0
}
active proctype Consumer() {
  lock();
  do
  :: items == 0 -> wait()
  :: else -> break
  od;
  items--; m = 0
}
