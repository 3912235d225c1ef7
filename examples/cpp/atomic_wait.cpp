// A thread waits for an atomic variable to change.
// expect: safe
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> stage{0};
int value = 0;

int main() {
    std::thread waiter([] {
        stage.wait(0);
        assert(value == 9);
    });
    value = 9;
    stage = 1;
    stage.notify_one();
    waiter.join();
}
