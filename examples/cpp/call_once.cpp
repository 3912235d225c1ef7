// Something is initialised once.
// expect: safe
#include <cassert>
#include <mutex>
#include <thread>

std::once_flag flag;
int value = 0;

void use() {
    std::call_once(flag, [] { value++; });
    assert(value == 1);
}

int main() {
    std::thread first(use), second(use);
    first.join();
    second.join();
}
