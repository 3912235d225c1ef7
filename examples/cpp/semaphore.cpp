// A semaphore hands a value over.
// expect: safe
#include <cassert>
#include <semaphore>
#include <thread>

std::binary_semaphore full(0);
int value = 0;

int main() {
    std::thread producer([] {
        value = 3;
        full.release();
    });
    full.acquire();
    assert(value == 3);
    producer.join();
}
