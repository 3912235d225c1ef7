//! The statements of `mover_ir::builder`, judged by equal Promela models.
//!
//! Each pair is explored by the concrete semantics. Both must reach the same values of the global
//! variables, in the same number of states, with the same verdicts. Only states in which every
//! thread may move count, since Promela needs two statements in an `atomic` where the builder has
//! one step. A Promela process that is to stay at its end waits there for `false`.

use std::collections::BTreeSet;

use mover_ir::builder::{Pattern, ProgramBuilder, Value};
use mover_ir::expr::Ty;
use mover_ir::program::{Init, Program};
use mover_ir::semantics::Machine;

#[derive(PartialEq, Eq, Debug)]
struct Explored {
    states: usize,
    globals: BTreeSet<Vec<u64>>,
    fails: bool,
    deadlocks: bool,
}

fn explored(program: &Program) -> Explored {
    let machine = Machine::new(program);
    let is_channel = |cell: usize| matches!(program.globals[cell].init, Init::Channels(_));
    // Where each cell belongs to, to leave out Promela's references to channels.
    let owners = program.globals.iter().enumerate();
    let owners: Vec<usize> = owners
        .flat_map(|(number, variable)| vec![number; variable.len as usize])
        .collect();
    let mut found = Explored {
        states: 0,
        globals: BTreeSet::new(),
        fails: false,
        deadlocks: false,
    };
    let mut waiting = vec![machine.initial()];
    let mut seen: BTreeSet<_> = waiting.iter().cloned().collect();
    while let Some(state) = waiting.pop() {
        if state.exclusive.is_none() {
            found.states += 1;
            let cells = state.globals.iter().enumerate();
            let cells = cells.filter(|(cell, _)| !is_channel(owners[*cell]));
            found
                .globals
                .insert(cells.map(|(_, &value)| value).collect());
        }
        found.fails |= machine.error(&state).is_some();
        found.deadlocks |= machine.is_deadlock(&state);
        for (_, next) in machine.successors(&state) {
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    found
}

/// Gives what both do.
fn same(promela: &str, write: impl FnOnce(&mut ProgramBuilder)) -> Explored {
    let mut model = ProgramBuilder::new("model");
    write(&mut model);
    let built = model.build().unwrap_or_else(|error| panic!("{error}"));
    let read = mover_promela::parse_text("model", promela);
    let read = read.unwrap_or_else(|failure| panic!("{:?}", failure.diagnostics));
    let (ours, theirs) = (explored(&built), explored(&read.program));
    assert_eq!(ours, theirs, "{}", mover_ir::print::print_program(&built));
    ours
}

#[test]
fn assignments_lose_an_update() {
    let found = same(
        "byte counter;
         proctype worker() { byte own; own = counter; counter = own + 1; end_done: false }
         init {
             pid a; pid b;
             a = run worker(); b = run worker();
             worker[a]@end_done; worker[b]@end_done;
             assert(counter == 2); end_main: false
         }",
        |model| {
            let counter = model.global("counter", Ty::BYTE);
            let worker = model.thread("worker", |t| {
                let own = t.local("own", Ty::BYTE);
                t.assign(own, counter);
                t.assign(counter, own + 1);
            });
            model.main(|t| {
                let a = t.spawn(worker);
                let b = t.spawn(worker);
                t.join(a);
                t.join(b);
                t.assert(counter.eq(2), "both updates count");
            });
        },
    );
    assert!(found.fails && !found.deadlocks);
}

#[test]
fn spawned_threads_take_their_arguments() {
    let found = same(
        "byte sum; byte slots[3];
         proctype worker(byte id; byte amount) {
             slots[id] = amount; sum = sum + amount; end_done: false
         }
         init {
             pid a; pid b;
             a = run worker(1, 4); b = run worker(2, 5);
             worker[b]@end_done; worker[a]@end_done;
             assert(sum == 9 && slots[0] == 0 && slots[2] == 5); end_main: false
         }",
        |model| {
            let sum = model.global("sum", Ty::BYTE);
            let slots = model.array("slots", Ty::BYTE, 3);
            let worker = model.thread("worker", |t| {
                let id = t.param("id", Ty::BYTE);
                let amount = t.param("amount", Ty::BYTE);
                t.step(|s| {
                    s.when(id.lt(3));
                    s.assign(slots.at(id), amount);
                });
                t.assign(sum, sum + amount);
            });
            model.main(|t| {
                let a = t.spawn_with(worker, [1, 4]);
                let b = t.spawn_with(worker, [2, 5]);
                t.join(b);
                t.join(a);
                let all = sum.eq(9) & slots.at(0).eq(0) & slots.at(2).eq(5);
                t.assert(all, "all is written");
            });
        },
    );
    assert!(!found.fails && !found.deadlocks);
}

#[test]
fn a_wait_without_end_is_a_deadlock() {
    let found = same(
        "byte x; byte y;
         active proctype a() { x == 1; y = 1; end_a: false }
         active proctype b() { y == 1; x = 1; end_b: false }",
        |model| {
            let (x, y) = (model.global("x", Ty::BYTE), model.global("y", Ty::BYTE));
            let a = model.thread("a", |t| {
                t.wait(x.eq(1));
                t.assign(y, 1);
            });
            let b = model.thread("b", |t| {
                t.wait(y.eq(1));
                t.assign(x, 1);
            });
            model.start(a);
            model.start(b);
        },
    );
    assert!(found.deadlocks);
}

#[test]
fn branches_and_loops() {
    let found = same(
        "int x; byte n;
         active [2] proctype p() {
             byte i;
             do
             :: i < 3 ->
                 i++;
                 if
                 :: x % 2 == 0 -> x = x - 3
                 :: else -> if :: n == 1 -> skip :: else -> x = x + 1; n = i fi
                 fi
             :: else -> break
             od;
             do
             :: if :: n > 0 -> n = n - 1 :: else -> break fi
             od;
             end_p: false
         }",
        |model| {
            let (x, n) = (model.global("x", Ty::INT), model.global("n", Ty::BYTE));
            let p = model.thread("p", |t| {
                let i = t.local("i", Ty::BYTE);
                t.while_(i.lt(3), |t| {
                    t.assign(i, i + 1);
                    t.if_else(
                        (x % 2).eq(0),
                        |t| t.assign(x, x - 3),
                        |t| {
                            t.if_else(
                                n.eq(1),
                                |t| t.skip(),
                                |t| {
                                    t.assign(x, x + 1);
                                    t.assign(n, i);
                                },
                            );
                        },
                    );
                });
                t.repeat(|t| t.if_else(n.gt(0), |t| t.assign(n, n - 1), |t| t.break_()));
            });
            model.start(p);
            model.start(p);
        },
    );
    assert!(found.states > 100 && !found.fails && !found.deadlocks);
}

#[test]
fn choices_between_branches() {
    same(
        "byte x; byte y;
         active [2] proctype p() {
             do
             :: x < 2 -> x = x + 1; y = 0
             :: y = y ^ 1
             :: x == 2 -> break
             :: do :: x > 0 -> x = x - 1 :: else -> y = 2; break od
             od;
             if :: x = 3 :: x = 4 :: x = 5 fi;
             end_p: false
         }",
        |model| {
            let (x, y) = (model.global("x", Ty::BYTE), model.global("y", Ty::BYTE));
            let p = model.thread("p", |t| {
                t.repeat(|t| {
                    t.choose(|c| {
                        c.branch(|t| {
                            t.wait(x.lt(2));
                            t.assign(x, x + 1);
                            t.assign(y, 0);
                        });
                        c.branch(|t| t.assign(y, y ^ 1));
                        c.branch(|t| {
                            t.wait(x.eq(2));
                            t.break_();
                        });
                        c.branch(|t| {
                            t.while_(x.gt(0), |t| t.assign(x, x - 1));
                            t.assign(y, 2);
                        });
                    });
                });
                t.choose(|c| {
                    for value in 3..6 {
                        c.branch(|t| t.assign(x, value));
                    }
                });
            });
            model.start(p);
            model.start(p);
        },
    );
}

#[test]
fn any_value_below_a_bound() {
    same(
        "byte x; bool flag;
         active proctype p() {
             if :: x = 0 :: x = 1 :: x = 2 fi;
             if :: flag = false :: flag = true fi;
             assert(x < 2 || !flag); end_p: false
         }",
        |model| {
            let (x, flag) = (model.global("x", Ty::BYTE), model.global("flag", Ty::BOOL));
            model.main(|t| {
                t.pick(x, 3);
                t.havoc(flag);
                t.assert(x.lt(2) | !flag, "not both");
            });
        },
    );
}

#[test]
fn mutexes_exclude() {
    let promela = |order: [&str; 2]| {
        format!(
            "int left; int right; byte x;
             active proctype a() {{
                 atomic {{ left == 0 -> left = _pid + 1 }};
                 atomic {{ right == 0 -> right = _pid + 1 }};
                 x = x + 1; right = 0; left = 0; end_a: false
             }}
             active proctype b() {{
                 atomic {{ {0} == 0 -> {0} = _pid + 1 }};
                 atomic {{ {1} == 0 -> {1} = _pid + 1 }};
                 x = x + 1; right = 0; left = 0; end_b: false
             }}",
            order[0], order[1]
        )
    };
    let ours = |is_crossed: bool| {
        move |model: &mut ProgramBuilder| {
            let (left, right) = (model.mutex("left"), model.mutex("right"));
            let x = model.global("x", Ty::BYTE);
            for (name, is_crossed) in [("a", false), ("b", is_crossed)] {
                let thread = model.thread(name, |t| {
                    let (first, second) = if is_crossed {
                        (right, left)
                    } else {
                        (left, right)
                    };
                    t.lock(first);
                    t.lock(second);
                    t.assign(x, x + 1);
                    t.unlock(right);
                    t.unlock(left);
                });
                model.start(thread);
            }
        }
    };
    assert!(!same(&promela(["left", "right"]), ours(false)).deadlocks);
    assert!(same(&promela(["right", "left"]), ours(true)).deadlocks);
}

#[test]
fn rows_of_mutexes() {
    let found = same(
        "int forks[2];
         active [2] proctype p() {
             atomic { forks[_pid] == 0 -> forks[_pid] = _pid + 1 };
             atomic { forks[1 - _pid] == 0 -> forks[1 - _pid] = _pid + 1 };
             forks[1 - _pid] = 0; forks[_pid] = 0; end_p: false
         }",
        |model| {
            let forks = model.mutexes("forks", 2);
            let p = model.thread("p", |t| {
                let id = t.param("id", Ty::BOOL);
                t.lock(forks.at(id));
                t.lock(forks.at(!id));
                t.unlock(forks.at(!id));
                t.unlock(forks.at(id));
            });
            model.start_with(p, [0]);
            model.start_with(p, [1]);
        },
    );
    assert!(found.deadlocks);
}

#[test]
fn buffered_channels_and_rendezvous() {
    for capacity in [0, 1, 2] {
        let found = same(
            &format!(
                "byte got; short sum;
                 chan c = [{capacity}] of {{ byte, short }};
                 active proctype sender() {{
                     c!200, -1; c!7, 300; c!200, -2; end_s: false
                 }}
                 active proctype receiver() {{
                     short s;
                     c?200, s; sum = sum + s;
                     c?got, _;
                     c?eval(got + 193), s; sum = sum + s;
                     assert(len(c) == 0 && got == 7 && sum == -3); end_r: false
                 }}"
            ),
            |model| {
                let got = model.global("got", Ty::BYTE);
                let sum = model.global("sum", Ty::SHORT);
                let c = model.channel("c", capacity, [Ty::BYTE, Ty::SHORT]);
                let sender = model.thread("sender", |t| {
                    t.send(c, [200, -1]);
                    t.send(c, [7, 300]);
                    t.send(c, [200, -2]);
                });
                let receiver = model.thread("receiver", |t| {
                    let s = t.local("s", Ty::SHORT);
                    t.receive(c, [Pattern::Equals(200.into()), s.into()]);
                    t.assign(sum, sum + s);
                    t.receive(c, [got.into(), Pattern::Any]);
                    t.receive(c, [Pattern::from(got + 193), s.into()]);
                    t.assign(sum, sum + s);
                    let all = c.is_empty() & got.eq(7) & sum.eq(-3);
                    t.assert(all, "all arrived");
                });
                model.start(sender);
                model.start(receiver);
            },
        );
        assert!(!found.fails && !found.deadlocks);
    }
}

#[test]
fn a_message_that_does_not_match_blocks() {
    let found = same(
        "byte x; chan c = [1] of { byte };
         active proctype p() { c!1; c?2; x = 1; end_p: false }",
        |model| {
            let x = model.global("x", Ty::BYTE);
            let c = model.channel("c", 1, [Ty::BYTE]);
            model.main(|t| {
                t.send(c, [1]);
                t.receive(c, [Value::from(2)]);
                t.assign(x, 1);
            });
        },
    );
    assert!(found.deadlocks);
}

#[test]
fn atomic_sections() {
    let found = same(
        "byte x; byte y;
         active proctype a() { atomic { x = 1; y = 1; x == 2; y = 3 }; x = 0; end_a: false }
         active proctype b() {
             atomic { do :: y < 2 -> y = y + 1 :: else -> break od; x = x + 1; y = 9 };
             assert(y == 9); end_b: false
         }",
        |model| {
            let (x, y) = (model.global("x", Ty::BYTE), model.global("y", Ty::BYTE));
            let a = model.thread("a", |t| {
                t.atomic(|t| {
                    t.assign(x, 1);
                    t.assign(y, 1);
                    t.wait(x.eq(2));
                    t.assign(y, 3);
                });
                t.assign(x, 0);
            });
            let b = model.thread("b", |t| {
                t.atomic(|t| {
                    t.while_(y.lt(2), |t| t.assign(y, y + 1));
                    t.assign(x, x + 1);
                    t.assign(y, 9);
                });
                t.assert(y.eq(9), "nobody wrote it");
            });
            model.start(a);
            model.start(b);
        },
    );
    assert!(found.fails);
}

#[test]
fn a_valid_end_is_no_deadlock() {
    let found = same(
        "byte x; chan c = [1] of { byte };
         active proctype server() { end_s: do :: c?x od }
         active proctype client() { c!1; c!2; end_c: false }",
        |model| {
            let x = model.global("x", Ty::BYTE);
            let c = model.channel("c", 1, [Ty::BYTE]);
            let server = model.thread("server", |t| {
                t.repeat(|t| {
                    t.label("serving");
                    t.valid_end();
                    t.receive(c, [x]);
                });
            });
            let client = model.thread("client", |t| {
                t.send(c, [1]);
                t.send(c, [2]);
            });
            model.start(server);
            model.start(client);
        },
    );
    assert!(!found.deadlocks);
}

#[test]
fn an_exit_frees_the_number() {
    let found = same(
        "byte x;
         proctype worker() { x = x + 1 }
         active proctype main() { do :: x < 4 -> run worker(); _nr_pr == 1 :: else -> break od; end_m: false }",
        |model| {
            let x = model.global("x", Ty::BYTE);
            let worker = model.thread("worker", |t| {
                t.assign(x, x + 1);
                t.exit();
            });
            model.main(|t| {
                t.while_(x.lt(4), |t| {
                    t.spawn(worker);
                    t.wait(Value::thread_count().eq(1));
                });
            });
            model.max_threads(2);
        },
    );
    assert!(!found.fails && !found.deadlocks);
}
