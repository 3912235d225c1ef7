// A detached thread uses a variable of a function that has returned.
// expect: unsafe memory-safety
#include <atomic>
#include <thread>

std::atomic<int> seen{0};

void start() {
    int local = 1;
    std::thread([&local] { seen = local; }).detach();
}

int main() {
    start();
    while (seen == 0)
        ;
}
