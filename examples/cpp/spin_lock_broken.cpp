// The spin lock looks whether it is free, and takes it in another step.
// expect: unsafe no-data-race
#include <atomic>
#include <mutex>
#include <thread>

class SpinLock {
    std::atomic<bool> taken{false};

public:
    void lock() {
        while (taken.load())
            ;
        taken.store(true);
    }
    void unlock() { taken.store(false); }
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
}
