// expect: unsafe no-overflow
// 
// options: --property no-overflow
#include <stdlib.h>

int x = -2147483647 - 1;

int main(void) {
    x = abs(x);
}
