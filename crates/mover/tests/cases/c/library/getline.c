// expect: unsafe unreach-call
// A line may be empty but for its end.
#define _GNU_SOURCE
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = 0;
    size_t room = 0;
    long count = getline(&line, &room, stdin);
    assert(count != 1 || line[0] != '\n');
    free(line);
    return 0;
}
