// A detached thread has a copy of the variable.
// expect: safe
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> seen{0};

void start() {
    int local = 1;
    std::thread([local] { seen = local; }).detach();
}

int main() {
    start();
    int now = seen;
    assert(now == 0 || now == 1);
}
