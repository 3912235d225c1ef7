// expect: unsafe unreach-call
// What is registered to run at process exit runs there.
#include <assert.h>

int g;

__attribute__((destructor)) void last(void) {
    assert(g == 0);
}

int main(void) {
    g = 1;
}
