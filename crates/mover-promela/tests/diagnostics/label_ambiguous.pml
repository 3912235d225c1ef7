byte x;
inline twice() { here: x = 1 }
active proctype p() { twice(); twice(); goto here }
