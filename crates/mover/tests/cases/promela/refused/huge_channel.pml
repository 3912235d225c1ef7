// expect: error P030
// message: huge_channel.pml:4
// message: 1000000000
chan c = [1000000000] of { int };
active proctype P() { c!1 }
