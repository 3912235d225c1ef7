// std::lock with locks that are adopted.
// expect: safe
#include <mutex>
#include <thread>

std::mutex a, b;

void work(std::mutex &x, std::mutex &y) {
    std::lock(x, y);
    std::lock_guard<std::mutex> one(x, std::adopt_lock);
    std::lock_guard<std::mutex> two(y, std::adopt_lock);
}

int main() {
    std::thread first(work, std::ref(a), std::ref(b));
    std::thread second(work, std::ref(b), std::ref(a));
    first.join();
    second.join();
}
