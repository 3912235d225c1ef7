// expect: error C011
// message: `f` has no body
// message: function_without_body.c:8
// message: --havoc-externals
int f(int);

int main(void) {
    return f(1);
}
