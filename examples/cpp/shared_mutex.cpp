// Readers share a lock, the writer has it alone.
// expect: safe
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int a = 0, b = 0;

int main() {
    std::thread reader([] {
        std::shared_lock<std::shared_mutex> lock(mutex);
        assert(a == b);
    });
    std::thread writer([] {
        std::unique_lock<std::shared_mutex> lock(mutex);
        a++;
        b++;
    });
    reader.join();
    writer.join();
}
