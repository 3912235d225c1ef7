// Virtual calls through several bases, a shared base, a template and a class without linkage.
// expect: safe
#include <cassert>
#include <memory>

namespace {
struct A {
    virtual int f() { return 1; }
    virtual ~A() = default;
    int a = 10;
};
struct B {
    virtual int g() { return 2; }
    virtual ~B() = default;
    int b = 20;
};
struct C : A, B {
    int f() override { return a + 1; }
    int g() override { return b + 2; }
};
struct D final : C {
    int g() override { return b + 3; }
};
} // namespace

struct Root {
    virtual int v() { return 5; }
    virtual ~Root() = default;
    int x = 1;
};
struct Left : virtual Root {
    int l = 2;
    int v() override { return x + l; }
};
struct Right : virtual Root {
    int r = 3;
};
struct Both : Left, Right {
    int v() override { return x + l + r; }
};

struct Task {
    virtual int run() = 0;
    virtual ~Task() = default;
};
template <class F> struct TaskOf : Task {
    F function;
    TaskOf(F function) : function(function) {}
    int run() override { return function(); }
};

int main() {
    C c;
    A *a = &c;
    B *b = &c;
    assert(a->f() == 11 && b->g() == 22);
    std::unique_ptr<B> owner(new D);
    assert(owner->g() == 23);

    Both both;
    Root *root = &both;
    Right *right = &both;
    assert(root->v() == 6 && right->v() == 6);

    int k = 4;
    auto four = [k] { return k; };
    std::unique_ptr<Task> task = std::make_unique<TaskOf<decltype(four)>>(four);
    assert(task->run() == 4);

    int (A::*member)() = &A::f;
    A plain;
    assert((plain.*member)() == 1 && (c.*member)() == 11);
}
