/* Found by voting on random programs of the intermediate language (seed 50000075), here as a model.
 * The first process starts one of its own kind, which starts another: formulas had room for two, and
 * bmc, ic3 and token said safe. */
byte n;
active proctype P() {
  if
  :: n < 3 -> n++; run P()
  :: else -> assert(false)
  fi;
  do :: n == 100 od
}
