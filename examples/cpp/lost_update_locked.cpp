// The increments are made under a mutex.
// expect: safe
#include <cassert>
#include <mutex>
#include <thread>

std::mutex mutex;
int counter = 0;

void increment(int times) {
    for (int i = 0; i < times; i++) {
        std::lock_guard<std::mutex> lock(mutex);
        counter++;
    }
}

int main() {
    std::thread first(increment, 2);
    std::thread second(increment, 2);
    first.join();
    second.join();
    assert(counter == 4);
}
