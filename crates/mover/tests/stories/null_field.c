/* A list is followed beyond its end. */
#include <stdlib.h>

struct item {
    int value;
    struct item *next;
};

int main(void) {
    struct item *first = malloc(sizeof *first);
    first->value = 1;
    first->next = NULL;
    int value = first->next->value;
    struct item *second = first->next->next;
    free(first);
    return value + (second != NULL);
}
