// A thread runs a member function of an object.
// expect: safe
#include <cassert>
#include <mutex>
#include <thread>

class Account {
    std::mutex mutex;
    int balance = 0;

public:
    void deposit(int amount) {
        std::lock_guard<std::mutex> lock(mutex);
        balance += amount;
    }
    int now() {
        std::lock_guard<std::mutex> lock(mutex);
        return balance;
    }
};

int main() {
    Account account;
    std::thread first(&Account::deposit, &account, 10);
    std::thread second(&Account::deposit, &account, 20);
    first.join();
    second.join();
    assert(account.now() == 30);
}
