// A mutex that is not recursive is taken twice by one thread.
// expect: unsafe no-deadlock
#include <mutex>

std::mutex mutex;

void inner() { std::lock_guard<std::mutex> lock(mutex); }

int main() {
    std::lock_guard<std::mutex> lock(mutex);
    inner();
}
