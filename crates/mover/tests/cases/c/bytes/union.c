// expect: safe
// Every byte that can be read is set.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

union {
    struct {
        char a;
        int b;
    } s;
    unsigned char c[8];
} u;

int main(void) {
    memset(&u, 0x11, sizeof u);
    for (int i = 0; i < 8; i++) assert(u.c[i] == 0x11);
}
