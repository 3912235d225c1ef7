// A reference to the smaller of two temporary objects, which end with the expression.
// expect: unsafe memory-safety
#include <algorithm>
#include <thread>

int limit = 3;

int main() {
    std::thread other([] { limit = 4; });
    other.join();
    const int &least = std::min(limit + 1, 8);
    return least;
}
