// A recursive mutex is taken twice by one thread.
// expect: safe
#include <cassert>
#include <mutex>
#include <thread>

std::recursive_mutex mutex;
int value = 0;

void inner() {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    value++;
}

void outer() {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    inner();
    inner();
}

int main() {
    std::thread first(outer), second(outer);
    first.join();
    second.join();
    assert(value == 4);
}
