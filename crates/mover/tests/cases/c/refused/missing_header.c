// expect: error C002
// What does not compile is told in the words of the compiler.
// message: 'not_there.h' file not found
#include <not_there.h>
