// expect: unsafe memory-safety
// Each round of a loop has a literal of its own.
struct job { int number; struct job *next; };

static int sum(const struct job *job) { return job->number + (job->next ? job->next->number : 0); }

int main(void) {
    struct job *job = 0;
    int s = 0;
    for (int i = 0; i < 2; i++) s += sum(job = &(struct job){i, job});
    return s;
}
