// expect: error C012
// What runs when the process exits is not followed.
static void f(void) {}
__attribute__((section(".fini_array"), used)) static void (*p)(void) = f;
int main(void) { return 0; }
