/* Strings and blocks of memory.
 * expect: safe
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct record {
    char name[8];
    int numbers[3];
};

int main(void) {
    char text[16] = "abc";
    strcat(text, "def");
    assert(strlen(text) == 6 && strcmp(text, "abcdef") == 0);
    assert(strchr(text, 'd') == text + 3 && strncmp(text, "abx", 2) == 0);
    struct record a = {"first", {1, 2, 3}}, b;
    memcpy(&b, &a, sizeof b);
    assert(memcmp(&a, &b, sizeof a) == 0);
    b.numbers[1] = 7;
    struct record copy = b;
    assert(copy.numbers[1] == 7 && copy.name[0] == 'f');
    memset(&b, 0, sizeof b);
    assert(b.name[0] == 0 && b.numbers[2] == 0);
    int *list = malloc(2 * sizeof *list);
    list[0] = 10;
    list[1] = 20;
    list = realloc(list, 4 * sizeof *list);
    list[3] = 40;
    assert(list[0] == 10 && list[1] == 20 && list[3] == 40);
    memmove(list + 1, list, 2 * sizeof *list);
    assert(list[1] == 10 && list[2] == 20);
    free(list);
    char *again = strdup("xyz");
    assert(again[2] == 'z');
    free(again);
    return 0;
}
