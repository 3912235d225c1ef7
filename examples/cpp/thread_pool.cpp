// A pool of one thread runs functions from a queue.
// expect: safe
#include <cassert>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

class Pool {
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<std::function<void()>> tasks;
    bool is_over = false;
    std::thread worker;

    void run() {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock<std::mutex> lock(mutex);
                changed.wait(lock, [this] { return is_over || !tasks.empty(); });
                if (tasks.empty())
                    return;
                task = std::move(tasks.front());
                tasks.pop();
            }
            task();
        }
    }

public:
    Pool() : worker([this] { run(); }) {}
    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            is_over = true;
        }
        changed.notify_all();
        worker.join();
    }
    void add(std::function<void()> task) {
        {
            std::lock_guard<std::mutex> lock(mutex);
            tasks.push(std::move(task));
        }
        changed.notify_one();
    }
};

int main() {
    int value = 0;
    {
        Pool pool;
        pool.add([&] { value += 2; });
        pool.add([&] { value *= 3; });
    }
    assert(value == 6);
}
