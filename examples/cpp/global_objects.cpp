// Objects are made before main and destroyed after it.
// expect: safe
#include <cassert>
#include <thread>

int alive = 0;

struct Resource {
    Resource() { alive++; }
    ~Resource() { assert(alive-- == 1); }
};

Resource resource;

int main() {
    std::thread thread([] { assert(alive == 1); });
    thread.join();
}
