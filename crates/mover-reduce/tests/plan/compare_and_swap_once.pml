/* plan: the cell is only swapped from 0; dynamically a look at it moves where it is not 0 */
byte cell; byte won;
active [2] proctype P() {
  byte l;
  if
  :: atomic { cell == 0 -> cell = _pid + 1 }; won = _pid
  :: atomic { cell != 0 -> skip }
  fi;
  l = cell
}
