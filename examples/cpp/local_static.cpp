// A static variable of a function is initialised by the first thread that comes.
// expect: safe
#include <cassert>
#include <thread>

int made = 0;

struct Table {
    int value;
    Table() : value(42) { made++; }
};

Table &table() {
    static Table the_table;
    return the_table;
}

int main() {
    auto use = [] { assert(table().value == 42); };
    std::thread first(use), second(use);
    first.join();
    second.join();
    assert(made == 1);
}
