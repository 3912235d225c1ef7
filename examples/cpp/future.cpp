// A promise hands a value to the thread that waits for its future.
// expect: safe
#include <cassert>
#include <future>
#include <thread>

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread setter([&] { promise.set_value(5); });
    assert(future.get() == 5);
    setter.join();
}
