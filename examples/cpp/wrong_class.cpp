// A virtual call on an object of another class is undefined.
// expect: unsafe memory-safety
struct Cat {
    virtual int purr() { return 1; }
};
struct Dog {
    virtual int bark() { return 2; }
};

int main() {
    Dog dog;
    Cat *cat = reinterpret_cast<Cat *>(&dog);
    return cat->purr();
}
