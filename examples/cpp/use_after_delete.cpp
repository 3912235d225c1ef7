// One thread deletes what the other still uses.
// expect: unsafe memory-safety
#include <atomic>
#include <thread>

struct Node {
    std::atomic<int> value{1};
};

int main() {
    Node *node = new Node;
    std::thread reader([node] { node->value.load(); });
    delete node;
    reader.join();
}
