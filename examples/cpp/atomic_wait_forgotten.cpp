// The variable changes, but nobody is notified.
// expect: unsafe no-deadlock
#include <atomic>
#include <thread>

std::atomic<int> stage{0};

int main() {
    std::thread waiter([] { stage.wait(0); });
    stage = 1;
    waiter.join();
}
