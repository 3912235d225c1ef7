// expect: unknown
// What is not supported is named with its line.
// engines: token
// message: without buffer
// message: .pml:
#include "../../../../../../examples/promela/prodcons_rendezvous.pml"
