// Temporary objects live until the end of the expression, or as long as the reference that is bound to them.
// expect: safe
#include <cassert>
#include <system_error>
#include <string>
#include <thread>
#include <vector>

struct point {
    int x, y;
};

point make(int n) { return {n, 2}; }
const point &same(const point &p) { return p; }

int main() {
    int s = 0;
    std::thread other([&] { s = same(make(3)).x + same(make(4)).x; });
    other.join();
    const point &kept = make(1), &chosen = s ? make(5) : make(6);
    assert(kept.x == 1 && chosen.x == 5 && s == 7);
    for (int n : std::vector<int>{1, 2}) s += n;
    while (same(make(s)).x < 12) s++;
    assert(s == 12 && same(kept).y == 2);
    assert(std::string("generic") == std::generic_category().name());
    assert(std::string("system") == std::system_category().name());
}
