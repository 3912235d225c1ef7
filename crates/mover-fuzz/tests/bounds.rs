//! Bounds that runs meet: all engines say whether there are any, in the search that looks for
//! violations, and a run that ends at a bound hides nothing that another run does.

use mover_fuzz::compare::{Compared, compare};
use mover_fuzz::ir::judge::judge;
use mover_fuzz::ir::{FAMILIES, spice};
use mover_fuzz::random::Random;
use mover_fuzz::{MOST_STATES, programs};
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::print::print_program;
use mover_ir::program::*;
use mover_ir::validate::validate;

const BYTE: Ty = Ty::unsigned(8);

/// The globals of the programs below.
const X: u32 = 0;
const LOCK: u32 = 1;
const OTHER_LOCK: u32 = 2;

fn cell(id: u32) -> Place {
    Place::scalar(VariableRef::Global(VariableId(id)), BYTE)
}

fn is(id: u32, value: i64) -> Expr {
    let value = Expr::constant(value, BYTE.width);
    Expr::binary(BinaryOp::Eq, Expr::Read(cell(id)), value)
}

fn is_not(id: u32, value: i64) -> Expr {
    let value = Expr::constant(value, BYTE.width);
    Expr::binary(BinaryOp::Ne, Expr::Read(cell(id)), value)
}

fn set(id: u32, value: Expr) -> Vec<Effect> {
    let place = cell(id);
    vec![Effect::Assign { place, value }]
}

fn to(value: i64) -> Expr {
    Expr::constant(value, BYTE.width)
}

/// What a thread writes into the locks that it takes.
fn mark() -> Expr {
    Expr::binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1)).resize(BYTE.width, false)
}

fn edge(guard: Expr, effects: Vec<Effect>, target: u32) -> Edge {
    Edge {
        priority: 0,
        guard,
        effects,
        target: LocationId(target),
        span: None,
        text: String::new(),
        sync: Vec::new(),
    }
}

fn take(lock: u32, target: u32) -> Edge {
    edge(is(lock, 0), set(lock, mark()), target)
}

fn give_back(lock: u32, target: u32) -> Edge {
    let held = Expr::binary(BinaryOp::Eq, Expr::Read(cell(lock)), mark());
    edge(held, set(lock, to(0)), target)
}

fn at(edges: Vec<Edge>) -> Location {
    Location {
        edges,
        ..Location::default()
    }
}

fn atomic(edges: Vec<Edge>) -> Location {
    Location {
        atomic: true,
        ..at(edges)
    }
}

fn end() -> Location {
    Location {
        valid_end: true,
        ..Location::default()
    }
}

fn bound() -> Location {
    Location {
        bound: Some(BoundMark {
            kind: BoundKind::Recursion,
            message: "too deep".into(),
        }),
        ..Location::default()
    }
}

fn error() -> Location {
    Location {
        error: Some(ErrorMark {
            property: Property::UnreachCall,
            message: "wrong".into(),
            resume: None,
        }),
        ..Location::default()
    }
}

fn program(name: &str, threads: Vec<Vec<Location>>) -> Program {
    let variable = |name: &str| Variable {
        name: name.into(),
        ty: BYTE,
        len: 1,
        is_array: false,
        init: Init::All(0),
        symbols: None,
        addressable: false,
        names: CellNames::default(),
        span: None,
    };
    Program {
        info: ProgramInfo::named(name),
        globals: ["x", "lock", "other"].map(variable).into(),
        max_threads: threads.len() as u32,
        initial: (0..threads.len())
            .map(|template| Instance {
                template: TemplateId(template as u32),
                args: Vec::new(),
                priority: 1,
            })
            .collect(),
        templates: threads
            .into_iter()
            .enumerate()
            .map(|(number, locations)| Template {
                name: format!("t{number}"),
                params: 0,
                locals: Vec::new(),
                channels: Vec::new(),
                locations,
                entry: LocationId(0),
                span: None,
            })
            .collect(),
        pointers_stay: true,
        ..Program::default()
    }
}

/// What is true of a program.
#[derive(Clone, Copy)]
struct Truth {
    error: bool,
    deadlock: bool,
    bound: bool,
}

const SAFE: Truth = Truth {
    error: false,
    deadlock: false,
    bound: false,
};
const BOUNDED: Truth = Truth {
    bound: true,
    ..SAFE
};
const WRONG: Truth = Truth {
    error: true,
    ..BOUNDED
};
const STUCK: Truth = Truth {
    deadlock: true,
    ..BOUNDED
};

/// A thread that fails if it sees `x == 1`.
fn observer() -> Vec<Location> {
    vec![
        at(vec![
            edge(is(X, 1), vec![], 1),
            edge(is_not(X, 1), vec![], 2),
        ]),
        error(),
        end(),
    ]
}

fn hand_written() -> Vec<(Program, Truth)> {
    let always = || Expr::TRUE;
    let writer = || {
        vec![
            at(vec![edge(always(), set(X, to(1)), 1)]),
            at(vec![edge(always(), set(X, to(0)), 2)]),
            end(),
        ]
    };
    let meets = |guard: Expr| {
        let otherwise = guard.clone().negate();
        vec![
            at(vec![edge(guard, vec![], 1), edge(otherwise, vec![], 2)]),
            bound(),
            end(),
        ]
    };
    // Takes the lock, counts, and meets a bound when it is the second, with the lock held.
    let counter = || {
        vec![
            at(vec![take(LOCK, 1)]),
            at(vec![
                edge(is(X, 1), vec![], 4),
                edge(is_not(X, 1), set(X, to(1)), 2),
            ]),
            at(vec![give_back(LOCK, 3)]),
            end(),
            bound(),
        ]
    };
    // Writes twice under the lock; nobody who takes the lock sees the value in between.
    let guarded_writer = || {
        vec![
            at(vec![take(LOCK, 1)]),
            at(vec![edge(always(), set(X, to(1)), 2)]),
            at(vec![edge(always(), set(X, to(0)), 3)]),
            at(vec![give_back(LOCK, 4)]),
            end(),
        ]
    };
    let guarded_reader = |sees: i64| {
        vec![
            at(vec![take(LOCK, 1)]),
            at(vec![
                edge(is(X, sees), vec![], 4),
                edge(is_not(X, sees), vec![], 2),
            ]),
            at(vec![give_back(LOCK, 3)]),
            end(),
            bound(),
        ]
    };
    let locks = |first: u32, second: u32| {
        vec![
            at(vec![take(first, 1)]),
            at(vec![take(second, 2)]),
            at(vec![give_back(second, 3)]),
            at(vec![give_back(first, 4)]),
            end(),
        ]
    };
    let chooses = vec![
        at(vec![edge(always(), vec![], 1), edge(always(), vec![], 2)]),
        bound(),
        end(),
    ];
    // Commits by a write and then can only meet a bound, at once or after some steps.
    let doomed = |between: Vec<Location>| {
        let mut locations = vec![at(vec![edge(always(), set(X, to(1)), 1)])];
        let last = 1 + between.len() as u32;
        locations.extend(between);
        locations.push(at(vec![edge(always(), vec![], last + 1)]));
        locations.push(bound());
        locations
    };
    let through = |target: u32| at(vec![edge(always(), vec![], target)]);
    vec![
        (
            program("one interleaving", vec![writer(), meets(is(X, 1))]),
            BOUNDED,
        ),
        (
            program("behind a lock", vec![counter(), counter()]),
            BOUNDED,
        ),
        (
            program(
                "excluded by a lock",
                vec![guarded_writer(), guarded_reader(1)],
            ),
            SAFE,
        ),
        (
            program(
                "not excluded by a lock",
                vec![guarded_writer(), guarded_reader(0)],
            ),
            BOUNDED,
        ),
        (program("never", vec![writer(), meets(is(X, 7))]), SAFE),
        (
            program(
                "bound and error apart",
                vec![writer(), observer(), meets(always())],
            ),
            WRONG,
        ),
        // The error can be seen only while the first thread stands before its bound.
        (
            program("doomed at once", vec![doomed(vec![]), observer()]),
            WRONG,
        ),
        (
            program(
                "doomed later",
                vec![doomed(vec![through(2), through(3)]), observer()],
            ),
            WRONG,
        ),
        (
            program(
                "doomed in an atomic sequence",
                vec![
                    doomed(vec![
                        through(2),
                        atomic(vec![edge(always(), vec![], 3)]),
                        atomic(vec![edge(always(), vec![], 4)]),
                    ]),
                    observer(),
                ],
            ),
            WRONG,
        ),
        (
            program(
                "doomed after a lock is given back",
                vec![
                    vec![
                        at(vec![take(LOCK, 1)]),
                        at(vec![edge(always(), set(X, to(1)), 2)]),
                        at(vec![give_back(LOCK, 3)]),
                        at(vec![edge(always(), vec![], 4)]),
                        bound(),
                    ],
                    vec![
                        at(vec![take(LOCK, 1)]),
                        at(vec![
                            edge(is(X, 1), vec![], 4),
                            edge(is_not(X, 1), vec![], 2),
                        ]),
                        at(vec![give_back(LOCK, 3)]),
                        end(),
                        error(),
                    ],
                ],
            ),
            WRONG,
        ),
        // Whoever waits for what the others do not do any more is not in a deadlock.
        (
            program(
                "waits for a thread at a bound",
                vec![
                    vec![at(vec![edge(is(X, 1), vec![], 1)]), end()],
                    meets(always()),
                ],
            ),
            BOUNDED,
        ),
        (
            program(
                "deadlock beside a bound",
                vec![locks(LOCK, OTHER_LOCK), locks(OTHER_LOCK, LOCK), chooses],
            ),
            STUCK,
        ),
    ]
}

/// The symbolic engines, all of which must have an answer.
#[cfg(feature = "symbolic")]
fn vote(program: &Program, property: Property, truth: Truth) {
    use mover_fuzz::symbolic::{VOTERS, vote};
    let name = &program.info.name;
    let expected = match property {
        Property::NoDeadlock => truth.deadlock,
        _ => truth.error,
    };
    let patience = std::time::Duration::from_secs(60);
    let tallies = vote(program, property, expected, truth.bound, patience)
        .unwrap_or_else(|mismatch| panic!("{name}: {mismatch}"));
    for (voter, tally) in VOTERS.iter().zip(tallies) {
        assert_eq!(tally.answered, 1, "{name}: {voter} has no answer");
    }
}

#[test]
fn engines_agree_on_bounds() {
    for (program, truth) in hand_written() {
        let name = &program.info.name;
        assert_eq!(validate(&program), Ok(()), "{name}");
        let judgement = judge(&program).expect("it is small");
        assert_eq!(judgement.error, truth.error, "{name}");
        assert_eq!(judgement.deadlock, truth.deadlock, "{name}");
        assert_eq!(judgement.bound, truth.bound, "{name}");
        match compare(&program, MOST_STATES) {
            Ok(Ok(compared)) => {
                assert_eq!(compared.is_wrong, truth.error, "{name}");
                assert_eq!(compared.has_deadlock, truth.deadlock, "{name}");
            }
            Ok(Err(_)) => panic!("{name} is small"),
            Err(mismatch) => panic!("{name}: {mismatch}\n{}", print_program(&program)),
        }
        #[cfg(feature = "symbolic")]
        for property in [Property::UnreachCall, Property::NoDeadlock] {
            vote(&program, property, truth);
        }
    }
}

/// Random programs with bounds; there must be some of each kind.
#[test]
fn random_programs_with_bounds() {
    let mut random = Random(0xb0_07d5);
    let (mut met, mut safe, mut wrong) = (0, 0, 0);
    for number in 0..programs(1_500) {
        let mut program = random.pick(FAMILIES)(random.number() >> 16);
        spice::bound(&mut random, &mut program);
        if validate(&program).is_err() {
            continue;
        }
        match compare(&program, MOST_STATES) {
            Ok(Ok(Compared {
                is_wrong,
                meets_bound,
                ..
            })) => match (is_wrong, meets_bound[0]) {
                (true, _) => wrong += 1,
                (false, true) => met += 1,
                (false, false) => safe += 1,
            },
            Ok(Err(_)) => {}
            Err(mismatch) => panic!("{number}: {mismatch}\n{}", print_program(&program)),
        }
    }
    println!("{met} meet a bound, {safe} do not, {wrong} are wrong");
    assert!(met > 50 && safe > 50 && wrong > 50);
}

/// The same for the symbolic engines, as far as they have an answer soon.
#[cfg(feature = "symbolic")]
#[test]
fn symbolic_engines_vote_on_random_programs_with_bounds() {
    use mover_fuzz::symbolic::vote;
    let mut random = Random(0x5ea_b07d);
    let mut answered = 0;
    for number in 0..programs(120) {
        let mut program = random.pick(FAMILIES)(random.number() >> 16);
        spice::bound(&mut random, &mut program);
        if validate(&program).is_err() {
            continue;
        }
        let Ok(Ok(compared)) = compare(&program, 200) else {
            continue;
        };
        for (property, expected, meets_bound) in [
            (
                Property::UnreachCall,
                compared.is_wrong,
                compared.meets_bound[0],
            ),
            (
                Property::NoDeadlock,
                compared.has_deadlock,
                compared.meets_bound[1],
            ),
        ] {
            let mut program = program.clone();
            if property == Property::NoDeadlock {
                program.resume_after_errors();
            }
            let patience = std::time::Duration::from_millis(300);
            match vote(&program, property, expected, meets_bound, patience) {
                Ok(tallies) => answered += tallies.iter().map(|t| t.answered).sum::<u64>(),
                Err(mismatch) => panic!("{number}: {mismatch}\n{}", print_program(&program)),
            }
        }
    }
    assert!(answered > 100, "{answered} answers");
}
