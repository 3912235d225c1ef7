// A task runs in a thread of its own, and its result comes by a future.
// expect: safe
#include <cassert>
#include <future>
#include <thread>

int main() {
    std::packaged_task<int()> task([] { return 5; });
    std::future<int> result = task.get_future();
    std::thread runner(std::move(task));
    assert(result.get() == 5);
    runner.join();
}
