// std::queue behind a mutex, filled by one thread and emptied by another.
// expect: safe
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

int main() {
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<int> queue;
    std::thread producer([&] {
        std::lock_guard<std::mutex> lock(mutex);
        queue.push(5);
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !queue.empty(); });
        assert(queue.front() == 5);
        queue.pop();
    }
    producer.join();
}
