// The signal may come before anybody waits for it.
// expect: unsafe no-deadlock
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable ready;

int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(mutex);
        ready.wait(lock);
    });
    ready.notify_one();
    waiter.join();
}
