// expect: unsafe no-deadlock
// Two locks in two orders.
// options: --threads any
byte one, two;

active [2] proctype worker() {
    if
    :: atomic { one == 0 -> one = _pid + 1 };
       atomic { two == 0 -> two = _pid + 1 }
    :: atomic { two == 0 -> two = _pid + 1 };
       atomic { one == 0 -> one = _pid + 1 }
    fi;
    one = 0;
    two = 0
}
