// The waiter looks whether what it waits for has happened.
// expect: safe
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
bool is_ready = false;
int value = 0;

int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return is_ready; });
        assert(value == 7);
    });
    {
        std::lock_guard<std::mutex> lock(mutex);
        value = 7;
        is_ready = true;
    }
    changed.notify_one();
    waiter.join();
}
