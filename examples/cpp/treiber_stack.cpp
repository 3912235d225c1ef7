// A stack without locks; nodes are freed when everybody is done.
// expect: safe
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
    int value;
    Node *next;
};

class Stack {
    std::atomic<Node *> head{nullptr};

public:
    void push(Node *node) {
        node->next = head.load();
        while (!head.compare_exchange_weak(node->next, node))
            ;
    }
    int sum() {
        int all = 0;
        for (Node *node = head.load(); node; node = node->next)
            all += node->value;
        return all;
    }
};

int main() {
    Stack stack;
    Node one{1, nullptr}, two{2, nullptr};
    std::thread first([&] { stack.push(&one); });
    std::thread second([&] { stack.push(&two); });
    first.join();
    second.join();
    assert(stack.sum() == 3);
}
