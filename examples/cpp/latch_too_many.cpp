// The latch waits for three, and only two come.
// expect: unsafe no-deadlock
#include <latch>
#include <thread>

int main() {
    std::latch done(3);
    std::thread first([&] { done.count_down(); });
    std::thread second([&] { done.count_down(); });
    done.wait();
    first.join();
    second.join();
}
