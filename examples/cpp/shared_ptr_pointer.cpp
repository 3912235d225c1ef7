// Two threads use one and the same shared_ptr, and one of them changes it.
// expect: unsafe memory-safety
#include <memory>
#include <thread>

std::shared_ptr<int> shared = std::make_shared<int>(0);

int main() {
    std::thread first([] { std::shared_ptr<int> copy = shared; });
    std::thread second([] { shared.reset(); });
    first.join();
    second.join();
}
