// expect: error C012
// message: `last` is registered to run at process exit
#include <assert.h>

int g;

__attribute__((destructor)) void last(void) {
    assert(g == 0);
}

int main(void) {
    g = 1;
}
