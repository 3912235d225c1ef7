// An atomic counter with one step for each increment.
// expect: safe
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> counter{0};

int main() {
    auto increment = [] { counter.fetch_add(1); };
    std::thread first(increment);
    std::thread second(increment);
    first.join();
    second.join();
    assert(counter == 2);
}
