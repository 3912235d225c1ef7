mtype:fruit = { apple };
mtype:colour c;
active proctype p() { mtype = { late }; apple = 1 }
