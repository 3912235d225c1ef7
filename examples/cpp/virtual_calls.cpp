// Virtual functions of objects that unique_ptr owns.
// expect: safe
#include <cassert>
#include <memory>
#include <thread>

struct Shape {
    virtual ~Shape() = default;
    virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    explicit Square(int side) : side(side) {}
    int area() const override { return side * side; }
};
struct Line : Shape {
    int area() const override { return 0; }
};

int main() {
    std::unique_ptr<Shape> square = std::make_unique<Square>(3);
    std::unique_ptr<Shape> line = std::make_unique<Line>();
    std::thread thread([&] { assert(square->area() == 9); });
    assert(line->area() == 0);
    thread.join();
}
