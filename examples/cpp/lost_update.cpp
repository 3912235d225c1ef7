// Two increments without a lock: one can be lost.
// expect: unsafe no-data-race
#include <thread>

int counter = 0;

void increment() { counter++; }

int main() {
    std::thread first(increment);
    std::thread second(increment);
    first.join();
    second.join();
}
