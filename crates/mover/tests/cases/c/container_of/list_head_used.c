// expect: unsafe memory-safety
// There is no structure around the list head.
// engines: all
struct list { struct list *next; };
struct item { long value; struct list l; };
static struct list head = { &head };
int main(void) {
    unsigned long off = (unsigned long)&((struct item *)0)->l;
    struct item *p = (struct item *)((char *)head.next - off);
    return p->value;
}
