// A queue of bounded size between two threads.
// expect: safe
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

template <typename T, int N> class Queue {
    std::mutex mutex;
    std::condition_variable not_empty, not_full;
    T items[N];
    int first = 0, count = 0;

public:
    void push(T item) {
        std::unique_lock<std::mutex> lock(mutex);
        not_full.wait(lock, [this] { return count < N; });
        items[(first + count) % N] = item;
        count++;
        not_empty.notify_one();
    }
    T pop() {
        std::unique_lock<std::mutex> lock(mutex);
        not_empty.wait(lock, [this] { return count > 0; });
        T item = items[first];
        first = (first + 1) % N;
        count--;
        not_full.notify_one();
        return item;
    }
};

int main() {
    Queue<int, 1> queue;
    std::thread producer([&] {
        queue.push(1);
        queue.push(2);
    });
    int sum = queue.pop();
    sum = sum * 10 + queue.pop();
    producer.join();
    assert(sum == 12);
}
