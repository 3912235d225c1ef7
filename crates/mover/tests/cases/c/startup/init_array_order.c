// expect: unsafe unreach-call
// Those with a number run first, in its order.
// engines: all
extern void reach_error(void);
static int step;
static void last(void) { if (step == 2) reach_error(); }
static void second(void) { step = 2 * step; }
static void first(void) { step = step + 1; }
__attribute__((section(".init_array"), used)) static void (*p3)(void) = last;
__attribute__((section(".init_array.00200"), used)) static void (*p2)(void) = second;
__attribute__((section(".init_array.00150"), used)) static void (*p1)(void) = first;
int main(void) { return 0; }
