// expect: safe
// Every byte that can be read is set.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct {
    char a;
    int b;
} s;

int main(void) {
    memset(&s, 0x11, sizeof s);
    assert(((char *)&s)[1] == 0x11 && s.b == 0x11111111);
}
