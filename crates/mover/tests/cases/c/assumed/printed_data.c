// expect: safe
// What is assumed is in the verdict.
// message: what is read to be printed is not looked at (first at
#include <stdio.h>

char s[4];

int main(void) {
    printf("%d %s", 1, s);
}
