// expect: error C011
// message: `x` is declared but not defined
// message: variable_without_definition.c:7
extern int x;

int main(void) {
    return x;
}
