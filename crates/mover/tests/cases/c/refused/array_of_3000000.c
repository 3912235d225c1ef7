// expect: error C010
// message: more than is supported
char x[3000000];

int main(int n, char **v) {
    x[n] = 1;
    return x[0];
}
