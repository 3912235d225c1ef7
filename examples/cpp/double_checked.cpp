// Double-checked locking with an atomic pointer.
// expect: safe
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Config {
    int value = 3;
};

std::atomic<Config *> config{nullptr};
std::mutex mutex;

Config *get() {
    Config *now = config.load(std::memory_order_acquire);
    if (!now) {
        std::lock_guard<std::mutex> lock(mutex);
        now = config.load(std::memory_order_relaxed);
        if (!now) {
            now = new Config;
            config.store(now, std::memory_order_release);
        }
    }
    return now;
}

int main() {
    std::thread first([] { assert(get()->value == 3); });
    std::thread second([] { assert(get()->value == 3); });
    first.join();
    second.join();
    delete config.load();
}
