// expect: safe
// What is assumed is in the verdict.
// message: memory that is read only to be printed is not checked (first at
#include <stdio.h>

char s[4];

int main(void) {
    printf("%d %s", 1, s);
}
