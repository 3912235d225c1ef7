// std::scoped_lock takes two locks in any order without a deadlock.
// expect: safe
#include <cassert>
#include <mutex>
#include <thread>

std::mutex a, b;
int value = 0;

int main() {
    std::thread first([] {
        std::scoped_lock both(a, b);
        value++;
    });
    std::thread second([] {
        std::scoped_lock both(b, a);
        value++;
    });
    first.join();
    second.join();
    assert(value == 2);
}
