// expect: error C010
// Without `lock` it is no atomic access.
// message: inline assembly `incl
int x;

int main(void) {
    __asm__ volatile("incl %0" : "+m"(x));
    return x;
}
