// A jthread is asked to stop and joined where it is destroyed.
// expect: safe
#include <cassert>
#include <stop_token>
#include <thread>

int main() {
    int rounds = 0;
    {
        std::jthread worker([&](std::stop_token token) {
            while (!token.stop_requested() && rounds < 2)
                rounds++;
        });
    }
    assert(rounds <= 2);
}
