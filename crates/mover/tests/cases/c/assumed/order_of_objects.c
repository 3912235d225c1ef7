// expect: safe
// Which of two variables comes first in memory differs between machines.
// message: addresses are used as integers
// expect: safe
// In one array it does not.
// options: -DARRAY
// without: addresses
#include <assert.h>
int a, b;
int row[2];
int main(void) {
#ifdef ARRAY
    assert(&row[0] < &row[1]);
#else
    assert(&a < &b || &b < &a);
#endif
}
