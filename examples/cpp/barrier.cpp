// Two threads work in phases.
// expect: safe
#include <barrier>
#include <cassert>
#include <thread>

int main() {
    std::barrier<> phase(2);
    int a = 0, b = 0;
    std::thread first([&] {
        a = 1;
        phase.arrive_and_wait();
        assert(b == 2);
    });
    std::thread second([&] {
        b = 2;
        phase.arrive_and_wait();
        assert(a == 1);
    });
    first.join();
    second.join();
}
