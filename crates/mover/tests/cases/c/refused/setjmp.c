// expect: error C012
// What is not supported is named with its line.
// message: setjmp
// message: setjmp.c:10
#include <setjmp.h>

jmp_buf b;

int main(void) {
    return setjmp(b);
}
