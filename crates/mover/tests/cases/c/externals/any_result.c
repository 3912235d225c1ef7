// expect: unsafe unreach-call
// A function without a body can return anything.
// options: --havoc-externals
// message: `choose` has no body
extern void reach_error(void);
_Bool choose(void);

int main(void) {
    if (choose()) reach_error();
}
