// expect: unsafe memory-safety
// The body of a loop is a block without braces, too.
struct job { int number; };

int main(void) {
    struct job *job = &(struct job){1};
    int n = 2;
    while (n--) job = &(struct job){n};
    return job->number;
}
