// expect: safe
extern int missing;
static int wanted;

int main(void) {
    return wanted ? missing : 0;
}
