// A spin lock made of std::atomic_flag.
// expect: safe
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class SpinLock {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;

public:
    void lock() {
        while (flag.test_and_set(std::memory_order_acquire))
            ;
    }
    void unlock() { flag.clear(std::memory_order_release); }
};

SpinLock spin;
int value = 0;

int main() {
    auto work = [] {
        std::lock_guard<SpinLock> lock(spin);
        value++;
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    assert(value == 2);
}
