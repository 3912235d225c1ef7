// expect: safe
// Wait and notify as in Section 5.3 of Flanagan and Qadeer (2003): the wait set belongs to the lock, and
// wait is a left mover followed by a right mover.
// engines: all
// object: waiting protected
// object: items protected
inline wait() {
  d_step { m == _pid + 1 -> waiting[_pid] = true; m = 0 };
  atomic { m == 0 && !waiting[_pid] -> m = _pid + 1 }
}

byte m;
bool waiting[3];
byte items;

inline lock() { atomic { m == 0 -> m = _pid + 1 } }

inline notify_all() {
  d_step { m == _pid + 1 -> waiting[0] = false; waiting[1] = false; waiting[2] = false }
}

active proctype Producer() {
  byte i;
  do
  :: i < 2 -> lock(); items++; notify_all(); m = 0; i++
  :: else -> break
  od
}

active [2] proctype Consumer() {
  byte before;
  lock();
  do
  :: items == 0 -> wait()
  :: else -> break
  od;
  before = items;
  items--;
  assert(items == before - 1);
  m = 0
}
