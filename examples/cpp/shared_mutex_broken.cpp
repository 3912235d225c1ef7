// A writer takes the lock as readers do.
// expect: unsafe no-data-race
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int value = 0;

int main() {
    auto write = [] {
        std::shared_lock<std::shared_mutex> lock(mutex);
        value++;
    };
    std::thread first(write), second(write);
    first.join();
    second.join();
}
