// An exception leaves a thread.
// expect: unsafe unreach-call
#include <stdexcept>
#include <thread>

int main() {
    std::thread thread([] { throw std::runtime_error("nobody listens"); });
    thread.join();
}
