// A std::map behind a mutex.
// expect: safe
#include <cassert>
#include <map>
#include <mutex>
#include <thread>

std::mutex mutex;
std::map<int, int> squares;

void put(int number) {
    std::lock_guard<std::mutex> lock(mutex);
    squares[number] = number * number;
}

int main() {
    std::thread first(put, 2), second(put, 3);
    first.join();
    second.join();
    assert(squares.size() == 2 && squares[2] == 4 && squares[3] == 9);
}
