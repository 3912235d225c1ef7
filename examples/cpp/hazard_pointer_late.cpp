// The reader does not look again after it has announced what it reads.
// expect: unsafe memory-safety
#include <atomic>
#include <thread>

struct Data {
    std::atomic<int> value;
};

std::atomic<Data *> current{nullptr};
std::atomic<Data *> hazard{nullptr};

void read() {
    Data *seen = current.load();
    hazard.store(seen);
    seen->value.load();
    hazard.store(nullptr);
}

int main() {
    current = new Data{{1}};
    std::thread reader(read);
    Data *old = current.exchange(new Data{{2}});
    while (hazard.load() == old)
        ;
    delete old;
    reader.join();
}
