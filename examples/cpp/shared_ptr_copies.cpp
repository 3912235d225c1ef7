// Two threads have copies of a shared_ptr: its count is atomic.
// expect: safe
#include <cassert>
#include <memory>
#include <thread>

int main() {
    auto shared = std::make_shared<int>(5);
    std::thread first([shared] { assert(*shared == 5); });
    std::thread second([copy = shared] { assert(*copy == 5); });
    shared.reset();
    first.join();
    second.join();
}
