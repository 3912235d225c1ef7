// The result of the timed attempt is not checked.
// expect: unsafe no-data-race
#include <chrono>
#include <mutex>
#include <thread>

std::timed_mutex mutex;
int value = 0;

int main() {
    auto work = [] {
        std::unique_lock<std::timed_mutex> lock(mutex, std::chrono::milliseconds(10));
        value++;
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
}
