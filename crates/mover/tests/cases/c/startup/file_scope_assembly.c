// expect: error C012
// Assembly between the functions may define or run anything.
// message: .pushsection
extern void reach_error(void);
static void f(void) __attribute__((used));
static void f(void) { reach_error(); }
__asm__(".pushsection .init_array,\"aw\"\n.quad f\n.popsection");
int main(void) { return 0; }
