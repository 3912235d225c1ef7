// expect: unsafe unreach-call
// The functions in the section are called before `main`.
// engines: all
extern void reach_error(void);
static void f(void) { reach_error(); }
__attribute__((section(".init_array"), used)) static void (*p)(void) = f;
int main(void) { return 0; }
