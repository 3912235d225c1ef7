/* A binary tree, built and summed recursively.
 * options: --recursion 4
 * expect: safe
 */
#include <assert.h>
#include <stdlib.h>

struct tree {
    int value;
    struct tree *left, *right;
};

static struct tree *build(int depth, int value) {
    if (depth == 0)
        return NULL;
    struct tree *t = malloc(sizeof *t);
    t->value = value;
    t->left = build(depth - 1, 2 * value);
    t->right = build(depth - 1, 2 * value + 1);
    return t;
}

static int sum(const struct tree *t) { return t ? t->value + sum(t->left) + sum(t->right) : 0; }

static void destroy(struct tree *t) {
    if (t) {
        destroy(t->left);
        destroy(t->right);
        free(t);
    }
}

int main(void) {
    struct tree *t = build(2, 1);
    assert(sum(t) == 6);
    destroy(t);
    return 0;
}
