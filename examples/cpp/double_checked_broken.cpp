// Double-checked locking with a pointer that is not atomic.
// expect: unsafe no-data-race
#include <mutex>
#include <thread>

struct Config {
    int value = 3;
};

Config *config = nullptr;
std::mutex mutex;

Config *get() {
    if (!config) {
        std::lock_guard<std::mutex> lock(mutex);
        if (!config)
            config = new Config;
    }
    return config;
}

int main() {
    std::thread first(get), second(get);
    first.join();
    second.join();
}
