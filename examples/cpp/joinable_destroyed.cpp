// A std::thread is destroyed before it is joined or detached.
// expect: unsafe unreach-call
#include <thread>

int main() {
    std::thread thread([] {});
}
