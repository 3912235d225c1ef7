// expect: error C012
// message: `last` is to run when the process ends
#include <assert.h>

int g;

__attribute__((destructor)) void last(void) {
    assert(g == 0);
}

int main(void) {
    g = 1;
}
