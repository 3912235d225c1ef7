// Every thread has a counter of its own.
// expect: safe
#include <cassert>
#include <thread>

thread_local int counter = 5;

int main() {
    auto count = [] {
        counter++;
        assert(counter == 6);
    };
    std::thread first(count), second(count);
    first.join();
    second.join();
    assert(counter == 5);
}
