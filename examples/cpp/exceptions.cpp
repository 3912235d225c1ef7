// Exceptions are caught by type, and destructors run on the way.
// expect: safe
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

std::mutex mutex;
int failures = 0;

void work(int input) {
    std::lock_guard<std::mutex> lock(mutex);
    if (input < 0)
        throw std::invalid_argument("negative");
}

void guarded(int input) {
    try {
        work(input);
    } catch (const std::runtime_error &) {
        assert(false);
    } catch (const std::logic_error &) {
        std::lock_guard<std::mutex> lock(mutex);
        failures++;
    }
}

int main() {
    std::thread first(guarded, -1), second(guarded, -2);
    first.join();
    second.join();
    assert(failures == 2);
}
