// The variable is written after the promise is kept, so whoever has the value races with it.
// expect: unsafe no-data-race
#include <future>
#include <thread>

int result;

int main() {
    std::promise<void> promise;
    std::future<void> future = promise.get_future();
    std::thread setter([&] {
        promise.set_value();
        result = 5;
    });
    future.get();
    int seen = result;
    setter.join();
    return seen == 5 ? 0 : 1;
}
