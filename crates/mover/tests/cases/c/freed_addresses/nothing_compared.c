// expect: safe
// Where no addresses are compared, it makes no difference which block is where.
// without: freed addresses
#include <stdlib.h>

int main(void) {
    for (int i = 0; i < 3; i++) {
        int *p = malloc(sizeof *p);
        *p = i;
        free(p);
    }
    return 0;
}
