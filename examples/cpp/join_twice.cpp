// The second join throws, and nobody catches it.
// expect: unsafe unreach-call
#include <thread>

int main() {
    std::thread thread([] {});
    thread.join();
    thread.join();
}
