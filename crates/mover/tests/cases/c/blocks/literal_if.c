// expect: unsafe memory-safety
// What an `if` chooses is a block without braces, too.
struct job { int number; };

int main(int argc, char **argv) {
    struct job *job = &(struct job){1};
    (void)argv;
    if (argc) job = &(struct job){2};
    return job->number - 2;
}
