/* plan: threads of P end and give their numbers back, so run does not move; a spawn in a loop has no bound of its own */
byte x;
proctype P() { x++ }
init { byte i; do :: i < 2 -> run P(); i++ :: else -> break od }
