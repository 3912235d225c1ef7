// Threads in a vector.
// expect: safe
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int i = 1; i <= 2; i++)
        threads.push_back(std::thread([&sum, i] { sum += i; }));
    for (std::thread &thread : threads)
        thread.join();
    assert(sum == 3);
}
