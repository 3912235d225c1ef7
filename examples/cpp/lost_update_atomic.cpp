// An atomic counter, but reading and writing it are two steps.
// expect: unsafe unreach-call
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> counter{0};

int main() {
    auto increment = [] { counter = counter + 1; };
    std::thread first(increment);
    std::thread second(increment);
    first.join();
    second.join();
    assert(counter == 2);
}
