// A thread that does not get the lock in time does something else.
// expect: safe
#include <chrono>
#include <mutex>
#include <thread>

std::timed_mutex mutex;
int value = 0;

int main() {
    auto work = [] {
        std::unique_lock<std::timed_mutex> lock(mutex, std::chrono::milliseconds(10));
        if (lock.owns_lock())
            value++;
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
}
