// expect: error C001
// message: more than 256 MB
char x[2000000000];

int main(int n, char **v) {
    x[n] = 1;
    return x[0];
}
