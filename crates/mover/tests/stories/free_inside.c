/* A pointer that was moved on is freed. */
#include <stdlib.h>

int main(void) {
    char *text = malloc(8);
    text += 2;
    free(text);
    return 0;
}
