//! The builder: what its statements do where Promela has none to compare with (the others are
//! judged in mover-promela's tests), its texts and places, and what `build` refuses.

use std::collections::BTreeSet;

use mover_ir::builder::{FaultKind, ProgramBuilder, ThreadBuilder, Value};
use mover_ir::expr::Ty;
use mover_ir::print::print_step;
use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Machine, State};

fn built(write: impl FnOnce(&mut ProgramBuilder)) -> Program {
    let mut model = ProgramBuilder::new("model");
    write(&mut model);
    model.build().unwrap_or_else(|error| panic!("{error}"))
}

/// A program of one thread over two bytes `x` and `y`.
fn alone(write: impl Fn(&mut ThreadBuilder, [mover_ir::builder::Var; 2])) -> Program {
    built(|model| {
        let variables = ["x", "y"].map(|name| model.global(name, Ty::BYTE));
        model.main(|t| write(t, variables));
    })
}

fn reachable(program: &Program) -> Vec<State> {
    let machine = Machine::new(program);
    let mut states = vec![machine.initial()];
    let mut seen: BTreeSet<State> = states.iter().cloned().collect();
    let mut next = 0;
    while next < states.len() {
        for (_, state) in machine.successors(&states[next]) {
            if seen.insert(state.clone()) {
                states.push(state);
            }
        }
        next += 1;
    }
    states
}

/// Messages of the errors that can be reached.
fn errors(program: &Program) -> Vec<String> {
    let machine = Machine::new(program);
    let states = reachable(program);
    let errors = states.iter().filter_map(|state| machine.error(state));
    let messages: BTreeSet<String> = errors.map(|(_, error)| error.message.clone()).collect();
    messages.into_iter().collect()
}

fn has_deadlock(program: &Program) -> bool {
    let machine = Machine::new(program);
    reachable(program)
        .iter()
        .any(|state| machine.is_deadlock(state))
}

/// Values of the globals in states where nothing but waiting is left.
fn final_values(program: &Program) -> BTreeSet<Vec<u64>> {
    let machine = Machine::new(program);
    let states = reachable(program).into_iter();
    let last = states.filter(|state| machine.successors(state).is_empty());
    last.map(|state| state.globals).collect()
}

/// The texts of all edges of a thread, in order.
fn texts(program: &Program, template: usize) -> Vec<&str> {
    let locations = program.templates[template].locations.iter();
    let edges = locations.flat_map(|location| &location.edges);
    edges.map(|edge| edge.text.as_str()).collect()
}

fn faults(write: impl FnOnce(&mut ProgramBuilder)) -> Vec<FaultKind> {
    let mut model = ProgramBuilder::new("model");
    write(&mut model);
    let error = model.build().expect_err("it has a fault");
    error.faults.into_iter().map(|fault| fault.kind).collect()
}

fn main_faults(write: impl Fn(&mut ThreadBuilder, [mover_ir::builder::Var; 2])) -> Vec<FaultKind> {
    faults(|model| {
        let variables = ["x", "y"].map(|name| model.global(name, Ty::BYTE));
        model.main(|t| write(t, variables));
    })
}

#[test]
fn operators_follow_the_type() {
    // A machine with 8 bits, done by Rust.
    for (a, b) in [(7u8, 3u8), (200, 7), (3, 200), (255, 255), (128, 1)] {
        let unsigned = [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a / b,
            a % b,
            a & b,
            a | b,
            a ^ b,
            a.wrapping_shr(1),
            a.wrapping_shl(1),
            !a,
            u8::from(a < b),
            u8::from(a >= b),
            if a == b { a } else { b },
        ];
        let (sa, sb) = (a as i8, b as i8);
        let signed = [
            (sa >> 1) as u8,
            sa.wrapping_neg() as u8,
            sa.wrapping_div(sb) as u8,
            sa.wrapping_rem(sb) as u8,
            u8::from(sa < sb),
            u8::from(sa > sb),
            u8::from(sa < sb),
        ];
        let program = built(|model| {
            let x = model.global_with("x", Ty::BYTE, a);
            let y = model.global_with("y", Ty::BYTE, b);
            let (sx, sy) = (x.cast(Ty::signed(8)), y.cast(Ty::signed(8)));
            let byte = |condition: Value| condition.cast(Ty::BYTE);
            let values = [
                x + y,
                x - y,
                x * y,
                x / y,
                x % y,
                x & y,
                x | y,
                x ^ y,
                x >> 1,
                x << 1,
                !x,
                byte(x.lt(y)),
                byte(x.ge(y)),
                x.eq(y).select(x, y),
                (sx.clone() >> 1).cast(Ty::BYTE),
                (-sx.clone()).cast(Ty::BYTE),
                (sx.clone() / sy.clone()).cast(Ty::BYTE),
                (sx.clone() % sy.clone()).cast(Ty::BYTE),
                byte(sx.clone().lt(sy.clone())),
                byte(sx.clone().gt(sy.clone())),
                byte(sx.clone().le(sy.clone()) & sx.ne(sy)),
            ];
            let row = model.array("row", Ty::BYTE, values.len() as u32);
            model.main(|t| {
                for (index, value) in values.into_iter().enumerate() {
                    t.assign(row.at(index), value);
                }
            });
        });
        let last = final_values(&program);
        let expected: Vec<u64> = [a, b]
            .into_iter()
            .chain(unsigned)
            .chain(signed)
            .map(u64::from)
            .collect();
        assert_eq!(
            last.into_iter().collect::<Vec<_>>(),
            [expected],
            "{a} and {b}"
        );
    }
}

#[test]
fn runs_that_are_assumed_away_neither_fail_nor_block() {
    let program = built(|model| {
        let (x, y) = (model.global("x", Ty::BYTE), model.global("y", Ty::BYTE));
        let other = model.thread("other", |t| {
            t.wait(y.eq(1));
            t.assert(x.eq(2), "only 2 was let through");
        });
        model.start(other);
        model.main(|t| {
            t.pick(x, 4);
            t.assume(x.eq(2));
            t.assign(y, 1);
        });
    });
    assert_eq!(errors(&program), Vec::<String>::new());
    assert!(!has_deadlock(&program));
    // In the four states behind the choice, one value goes on; the others stay where they are.
    let values: BTreeSet<Vec<u64>> = reachable(&program).into_iter().map(|s| s.globals).collect();
    let expected = [[0, 0], [1, 0], [2, 0], [3, 0], [2, 1]].map(Vec::from);
    assert_eq!(values, BTreeSet::from(expected));
}

#[test]
fn an_index_outside_is_an_error() {
    let program = |condition: fn(Value, Value) -> Value| {
        built(|model| {
            let i = model.global("i", Ty::BYTE);
            let row = model.array_with("row", Ty::BYTE, [1, 2]);
            model.main(|t| {
                t.pick(i, 4);
                t.wait(condition(i.lt(2), row.at(i).ne(0)));
            });
        })
    };
    assert_eq!(errors(&program(|_, cell| cell)), ["index outside of `row`"]);
    // The right side is not evaluated where the left one decides.
    assert_eq!(
        errors(&program(|inside, cell| inside & cell)),
        Vec::<String>::new()
    );
    assert_eq!(
        errors(&program(|inside, cell| inside | cell)),
        ["index outside of `row`"]
    );
    assert_eq!(
        errors(&program(|inside, cell| !inside | cell)),
        Vec::<String>::new()
    );
    let selected = program(|inside, cell| inside.select(cell, true));
    assert_eq!(errors(&selected), Vec::<String>::new());
}

#[test]
fn a_negative_or_wide_index_is_outside() {
    for (ty, first) in [(Ty::signed(8), -1i128), (Ty::unsigned(64), 1 << 32)] {
        let program = built(|model| {
            let i = model.global_with("i", ty, first);
            let row = model.array("row", Ty::BYTE, 2);
            model.main(|t| t.assign(row.at(i), 1));
        });
        assert_eq!(errors(&program), ["index outside of `row`"]);
    }
}

#[test]
fn a_division_by_zero_is_an_error() {
    let program = alone(|t, [x, y]| {
        t.pick(y, 2);
        t.assign(x, (x + 6) / y);
    });
    assert_eq!(errors(&program), ["division by zero"]);
    assert_eq!(
        final_values(&program)
            .into_iter()
            .filter(|v| v[0] == 6)
            .count(),
        1
    );
}

#[test]
fn only_the_holder_unlocks() {
    let program = built(|model| {
        let lock = model.mutex("lock");
        let other = model.thread("other", |t| t.unlock(lock));
        model.start(other);
        model.main(|t| t.lock(lock));
    });
    let machine = Machine::new(&program);
    let states = reachable(&program);
    let properties: BTreeSet<Property> = states
        .iter()
        .filter_map(|state| Some(machine.error(state)?.1.property))
        .collect();
    assert_eq!(properties, BTreeSet::from([Property::MutexMisuse]));
}

#[test]
fn a_step_is_one_step() {
    let program = alone(|t, [x, y]| {
        t.step(|s| {
            s.when(x.eq(0));
            s.assign(x, 1);
            s.assign(y, x + 1);
        });
    });
    assert_eq!(reachable(&program).len(), 2);
    assert_eq!(final_values(&program), BTreeSet::from([vec![1, 2]]));
    assert_eq!(texts(&program, 0), ["wait(x == 0); x = 1; y = x + 1"]);
}

#[test]
fn control_flow_takes_no_steps_of_its_own() {
    let program = alone(|t, [x, y]| {
        t.repeat(|t| {
            t.assign(x, x + 1);
            t.if_(x.lt(3), |t| t.continue_());
            t.choose(|c| {
                c.branch(|t| t.break_());
                c.branch(|t| {
                    t.assign(y, 9);
                    t.finish();
                });
            });
        });
        t.assign(y, 1);
    });
    // x is 1, 2 and 3, each before and behind the decision; then behind the loop, and both ends.
    assert_eq!(reachable(&program).len(), 1 + 3 * 2 + 1 + 2);
    assert_eq!(
        final_values(&program),
        BTreeSet::from([vec![3, 1], vec![3, 9]])
    );
    assert!(!has_deadlock(&program));
}

#[test]
fn an_empty_loop_runs_for_ever() {
    let program = alone(|t, _| t.repeat(|_| {}));
    assert_eq!(reachable(&program).len(), 1);
    assert!(!has_deadlock(&program));
    assert!(final_values(&program).is_empty());
}

#[test]
fn a_search_can_go_on_behind_an_assertion() {
    let mut program = alone(|t, [x, _]| {
        t.assert(x.eq(1), "x is 1");
        t.assign(x, 5);
    });
    assert_eq!(errors(&program), ["x is 1"]);
    program.resume_after_errors();
    assert_eq!(final_values(&program), BTreeSet::from([vec![5, 0]]));
}

#[test]
fn more_threads_than_said_are_an_error() {
    let program = |exits: bool| {
        built(|model| {
            let x = model.global("x", Ty::BYTE);
            let worker = model.thread("worker", |t| {
                t.assign(x, x ^ 1);
                if exits {
                    t.exit();
                }
            });
            model.main(|t| {
                t.repeat(|t| {
                    t.spawn(worker);
                    t.wait(Value::thread_count().eq(1) | !Value::from(exits));
                });
            });
            model.max_threads(3);
        })
    };
    assert_eq!(errors(&program(false)), ["more than 3 threads"]);
    assert_eq!(errors(&program(true)), Vec::<String>::new());
}

#[test]
fn threads_are_counted() {
    let program = built(|model| {
        let leaf = model.thread("leaf", |t| t.skip());
        let node = model.thread("node", |t| {
            t.spawn(leaf);
            t.if_(Value::me().eq(0), |t| {
                t.spawn(leaf);
            });
        });
        model.start(leaf);
        model.main(|t| {
            t.spawn(node);
            t.spawn(node);
        });
    });
    assert_eq!(program.max_threads, 1 + 1 + 2 * (1 + 2));
}

#[test]
fn texts_are_statements() {
    let program = built(|model| {
        let (x, flag) = (model.global("x", Ty::BYTE), model.global("flag", Ty::BOOL));
        let row = model.array("row", Ty::BYTE, 300);
        let c = model.channel("c", 1, [Ty::BYTE, Ty::BOOL]);
        model.main(|t| {
            t.assign(row.at(x), (x + 1) * 2 - (x - 1));
            t.wait(!(x.eq(1) & !flag | (x & 3).lt(2)));
            t.assign(x, flag.select(1, x));
            t.assign(x, (x << 2).cast(Ty::INT).cast(Ty::BYTE));
            t.send(c, [Value::from(3), true.into()]);
            t.receive(c, [x.into(), mover_ir::builder::Pattern::Any]);
            t.havoc(flag);
            t.while_(c.len().gt(0), |t| t.skip());
        });
    });
    let expected = [
        "row[x] = (x + 1) * 2 - (x - 1)",
        "wait(!(x == 1 && !flag || x & 3 < 2))",
        "x = if flag { 1 } else { x }",
        "x = (x << 2) as i32 as u8",
        "send(c: 3, true)",
        "receive(c: x, _)",
        "flag = any value",
        "while len(c) > 0",
        "leave while len(c) > 0",
        "skip",
    ];
    assert_eq!(texts(&program, 0), expected);
}

#[test]
fn steps_name_the_line_that_wrote_them() {
    let program = alone(|t, [x, _]| t.assign(x, 1));
    let line = line!() - 1;
    let machine = Machine::new(&program);
    let state = machine.initial();
    let step = machine.steps(&state)[0];
    let place = format!("{}:{line}", file!());
    let expected = format!("thread 0 (main): x = 1  [{place}]");
    assert_eq!(print_step(&program, &state, step), expected);
    let span = program.templates[0].locations[0].edges[0]
        .span
        .expect("the file is here");
    let text = program.info.sources.text(span);
    assert_eq!(text, "let program = alone(|t, [x, _]| t.assign(x, 1));");
}

#[test]
fn types_are_not_mixed() {
    let (byte, int) = (Ty::BYTE, Ty::INT);
    let mixed = |text: &str, left, right| {
        let text = text.to_string();
        vec![FaultKind::TypesDiffer { text, left, right }]
    };
    let with_int =
        |write: fn(&mut ThreadBuilder, mover_ir::builder::Var, mover_ir::builder::Var)| {
            main_faults(move |t, [x, _]| {
                let n = t.local("n", Ty::INT);
                write(t, x, n);
            })
        };
    assert_eq!(
        with_int(|t, x, n| t.assign(x, n)),
        mixed("x = n", byte, int)
    );
    assert_eq!(
        with_int(|t, x, n| t.assign(x, x + n)),
        mixed("x + n", byte, int)
    );
    assert_eq!(
        with_int(|t, x, n| t.wait(n.lt(x))),
        mixed("n < x", int, byte)
    );
    let selected = with_int(|t, x, n| t.assign(x, x.eq(1).select(n, x)));
    assert_eq!(selected, mixed("if x == 1 { n } else { x }", int, byte));
    let too_large = |number, ty| vec![FaultKind::DoesNotFit { number, ty }];
    assert_eq!(
        main_faults(|t, [x, _]| t.assign(x, 256)),
        too_large(256, byte)
    );
    assert_eq!(
        main_faults(|t, [x, _]| t.wait(x.gt(-1))),
        too_large(-1, byte)
    );
    assert_eq!(
        faults(|model| {
            model.global_with("x", Ty::signed(8), 128);
            model.main(|t| t.skip());
        }),
        too_large(128, Ty::signed(8))
    );
    let text = "x + 1".to_string();
    let no_condition = vec![FaultKind::NotACondition { text }];
    assert_eq!(main_faults(|t, [x, _]| t.wait(x + 1)), no_condition);
}

#[test]
fn misplaced_statements_are_refused() {
    let not_in_loop = |word| vec![FaultKind::NotInLoop(word)];
    assert_eq!(main_faults(|t, _| t.break_()), not_in_loop("break"));
    assert_eq!(main_faults(|t, _| t.continue_()), not_in_loop("continue"));
    let late = main_faults(|t, _| {
        t.local("own", Ty::BYTE);
        t.param("id", Ty::BYTE);
    });
    // The parameter also has no value, since `main` is started without any.
    assert_eq!(late[0], FaultKind::LateParameter("id".into()));
    let twice = main_faults(|t, _| {
        t.local("own", Ty::BYTE);
        t.local("own", Ty::BYTE);
    });
    assert_eq!(twice, [FaultKind::SameName("own".into())]);
    let text = "row[x] = 1".to_string();
    let after_write = faults(|model| {
        let x = model.global("x", Ty::BYTE);
        let row = model.array("row", Ty::BYTE, 2);
        model.main(|t| {
            t.step(|s| {
                s.assign(x, 3);
                s.assign(row.at(x), 1);
            });
        });
    });
    assert_eq!(after_write, [FaultKind::CheckAfterWrite { text }]);
    let outside = faults(|model| {
        let row = model.array("row", Ty::BYTE, 2);
        model.main(|t| t.assign(row.at(2), 1));
    });
    let name = "row".to_string();
    assert_eq!(outside, [FaultKind::IndexOutside { name, index: 2 }]);
    let name = "x".to_string();
    let wrong_choice = [FaultKind::WrongChoice { name, values: 257 }];
    assert_eq!(main_faults(|t, [x, _]| t.pick(x, 257)), wrong_choice);
}

#[test]
fn handles_stay_in_their_places() {
    let mut other = ProgramBuilder::new("other");
    let foreign = other.global("foreign", Ty::BYTE);
    let channel = other.channel("channel", 1, [Ty::BYTE]);
    let thread = other.thread("thread", |t| t.skip());
    let kinds = main_faults(|t, [x, _]| {
        t.assign(x, foreign);
        t.assign(foreign, 1);
        t.send(channel, [1]);
        t.spawn(thread);
    });
    assert_eq!(kinds, vec![FaultKind::ForeignModel; 4]);
    let local = faults(|model| {
        let mut stolen = None;
        let mut spawned = None;
        let first = model.thread("first", |t| stolen = Some(t.local("own", Ty::BYTE)));
        let second = model.thread("second", |t| spawned = Some(t.spawn(first)));
        model.start(second);
        model.main(|t| {
            t.assign(stolen.expect("written"), 1);
            t.join(spawned.expect("written"));
        });
    });
    assert_eq!(local, vec![FaultKind::ForeignLocal; 2]);
}

#[test]
fn threads_and_channels_take_what_they_say() {
    let wrong = |name: &str, expected, given| {
        let name = name.to_string();
        vec![FaultKind::WrongCount {
            name,
            expected,
            given,
        }]
    };
    let kinds = faults(|model| {
        let worker = model.thread("worker", |t| {
            t.param("id", Ty::BYTE);
        });
        model.start(worker);
        model.start_with(worker, [1]);
    });
    assert_eq!(kinds, wrong("worker", 1, 0));
    let kinds = faults(|model| {
        let worker = model.thread("worker", |t| {
            t.param("id", Ty::BYTE);
        });
        model.main(|t| {
            t.spawn_with(worker, [1, 2]);
            t.spawn_with(worker, [1]);
        });
    });
    assert_eq!(kinds, wrong("worker", 1, 2));
    let kinds = faults(|model| {
        let c = model.channel("c", 1, [Ty::BYTE]);
        model.main(|t| t.send(c, [1, 2]));
    });
    assert_eq!(kinds, wrong("c", 1, 2));
}

#[test]
fn threads_must_run_and_be_bounded() {
    let idle = faults(|model| {
        model.thread("idle", |t| t.skip());
        model.main(|t| t.skip());
    });
    assert_eq!(idle, [FaultKind::NeverRun("idle".into())]);
    assert_eq!(faults(|_| {}), [FaultKind::NothingStarted]);
    let looping = faults(|model| {
        let worker = model.thread("worker", |t| t.skip());
        model.main(|t| {
            t.repeat(|t| {
                t.spawn(worker);
            });
        });
    });
    assert_eq!(looping, [FaultKind::UnboundedThreads]);
    let gone = faults(|model| {
        let worker = model.thread("worker", |t| t.exit());
        model.main(|t| {
            let worker = t.spawn(worker);
            t.join(worker);
        });
    });
    assert_eq!(gone, [FaultKind::JoinedThreadExits("worker".into())]);
}

#[test]
fn the_validator_has_the_last_word() {
    let kinds = faults(|model| {
        model.array("row", Ty::BYTE, 0);
        model.main(|t| t.skip());
    });
    let [FaultKind::IllFormed(ill_formed)] = &kinds[..] else {
        panic!("{kinds:?}");
    };
    assert!(
        ill_formed.to_string().contains("`row` has 0 cells"),
        "{ill_formed}"
    );
}

#[test]
fn all_faults_are_told_with_their_lines() {
    let mut model = ProgramBuilder::new("model");
    let x = model.global("x", Ty::BYTE);
    model.main(|t| {
        t.assign(x, 300);
        t.break_();
    });
    let line = line!() - 3;
    let error = model.build().expect_err("two faults").to_string();
    let file = file!();
    let expected = format!(
        "{file}:{line}: 300 does not fit u8\n{file}:{}: `break` is outside a loop",
        line + 1
    );
    assert_eq!(error, expected);
}
