// Two threads change an object that both own.
// expect: unsafe no-data-race
#include <memory>
#include <thread>

int main() {
    auto shared = std::make_shared<int>(0);
    std::thread first([shared] { ++*shared; });
    std::thread second([shared] { ++*shared; });
    first.join();
    second.join();
}
