// expect: safe
// Compound literals are used within their blocks; the same literal is the same object if a jump evaluates it
// again in its block (the example of C11 6.5.2.5, paragraph 16).
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct s { int i; };

static int same(void) {
    struct s *p = 0, *q;
    int j = 0;
again:
    q = p, p = &((struct s){j++});
    if (j < 2) goto again;
    return p == q && q->i == 1;
}

static int same_in_block(int c) {
    if (c) {
        struct s *p = 0, *q;
        int j = 0;
    again:
        q = p, p = &((struct s){j++});
        if (j < 2) goto again;
        return p == q && q->i == 1;
    }
    return 0;
}

static int total;

static int get(struct s *p) { return p->i; }
static void leave(struct s **p) { total += (*p)->i; }

static void *set(void *arg) {
    ((struct s *)arg)->i++;
    return NULL;
}

static int early(int n) {
    for (int k = 0; k < 3; k++) {
        struct s *p = &(struct s){k};
        if (p->i == n) return p->i + 10;
        if (p->i == 1) continue;
        switch (n) {
        case 7: total += get(&(struct s){n}); break;
        default: total += get(k ? &(struct s){5} : p);
        }
        total += get(p);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct s *p;
    (void)argv;
    assert(same() && same_in_block(argc));
    if ((p = &(struct s){argc}) && p->i == 1)
        p->i++, total = p->i;
    assert(total == 2);
    for (struct s *r = &(struct s){0}; r->i < 3; r->i++) total += r->i;
    assert(total == 5);
    while (get(&(struct s){total++}) < 7)
        ;
    assert(total == 8);
    {
        struct s *last __attribute__((cleanup(leave))) = &(struct s){10}, *other = &(struct s){0};
        total += other->i;
        last->i++;
    }
    assert(total == 19);
    assert(early(1) == 11 && early(7) == 0);
    for (int i = 0; i < 2; i++) {
        struct s *shared = &(struct s){i};
        pthread_t t;
        pthread_create(&t, NULL, set, shared);
        pthread_join(t, NULL);
        assert(shared->i == i + 1);
    }
    do
        argc += get(&(struct s){1});
    while (argc < 3);
}
