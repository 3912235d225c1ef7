// expect: safe
// Functions of every kind are called through pointers.
// options: --property unreach-call --property memory-cleanup
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void (*volatile give_back)(void *) = free;
unsigned long (*volatile length)(const char *) = strlen;

int main(void) {
    char *p = malloc(4);
    p[0] = 'a';
    p[1] = 0;
    assert(length(p) == 1);
    give_back(p);
}
