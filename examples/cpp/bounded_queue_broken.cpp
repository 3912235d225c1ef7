// The queue looks only once whether there is an item: two consumers are woken for one.
// expect: unsafe unreach-call
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class Queue {
    std::mutex mutex;
    std::condition_variable not_empty;
    int count = 0;

public:
    void push() {
        std::unique_lock<std::mutex> lock(mutex);
        count++;
        not_empty.notify_all();
    }
    void pop() {
        std::unique_lock<std::mutex> lock(mutex);
        if (count == 0)
            not_empty.wait(lock);
        assert(count > 0);
        count--;
    }
};

int main() {
    Queue queue;
    std::thread first([&] { queue.pop(); });
    std::thread second([&] { queue.pop(); });
    queue.push();
    queue.push();
    first.join();
    second.join();
}
