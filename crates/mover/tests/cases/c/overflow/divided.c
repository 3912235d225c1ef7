// expect: unsafe no-overflow
// 
// options: --property no-overflow
int x = -2147483647 - 1, y = -1;

int main(void) {
    x = x / y;
}
