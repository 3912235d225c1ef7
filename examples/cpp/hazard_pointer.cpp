// A reader announces what it reads; the writer frees it only if nobody does.
// expect: safe
#include <atomic>
#include <cassert>
#include <thread>

struct Data {
    int value;
};

std::atomic<Data *> current{nullptr};
std::atomic<Data *> hazard{nullptr};

void read() {
    Data *seen;
    do {
        seen = current.load();
        hazard.store(seen);
    } while (seen != current.load());
    assert(seen->value == 1 || seen->value == 2);
    hazard.store(nullptr);
}

int main() {
    current = new Data{1};
    std::thread reader(read);
    Data *old = current.exchange(new Data{2});
    while (hazard.load() == old)
        ;
    delete old;
    reader.join();
    delete current.load();
}
