// expect: safe
// The address of the structure around the list head, which is none, is computed but not used.
// engines: all
#include <stdlib.h>
struct list { struct list *next; };
struct item { long value; struct list l; };
static struct list head = { &head };
int main(void) {
    unsigned long off = (unsigned long)&((struct item *)0)->l;
    struct item a;
    a.value = 3;
    a.l.next = head.next;
    head.next = &a.l;
    long sum = 0;
    struct item *p = (struct item *)((char *)head.next - off);
    while (&p->l != &head) {
        sum += p->value;
        p = (struct item *)((char *)p->l.next - off);
    }
    if (sum != 3)
        abort();
    return 0;
}
