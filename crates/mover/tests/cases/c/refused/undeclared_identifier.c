// expect: error C002
// What does not compile is told in the words of the compiler.
// message: undeclared_identifier.c:6:
// message: undeclared identifier
int main(void) {
    return undeclared;
}
