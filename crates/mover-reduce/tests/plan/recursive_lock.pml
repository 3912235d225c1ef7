/* plan: m names its owner, who may take it again: a lock by its value, which phase uses; static has non-movers */
byte m; byte depth; byte x;
active [2] proctype P() {
  atomic { m == 0 || m == _pid + 1 -> m = _pid + 1; depth++ };
  atomic { m == 0 || m == _pid + 1 -> m = _pid + 1; depth++ };
  x++;
  depth--;
  atomic { depth--; m = 0 }
}
