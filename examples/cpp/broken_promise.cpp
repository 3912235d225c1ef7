// A promise that is destroyed before it is kept tells so: its future throws.
// expect: safe
#include <cassert>
#include <future>

int main() {
    std::future<int> future;
    {
        std::promise<int> promise;
        future = promise.get_future();
    }
    bool is_broken = false;
    try {
        future.get();
    } catch (const std::future_error &error) {
        is_broken = true;
    }
    assert(is_broken);
}
