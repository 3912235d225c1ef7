//! The reductions on Promela: the same verdicts as without.
//!
//! Every example, and random models made of what reductions stumble over:
//! rendezvous offered and withdrawn, buffers with several users, locks taken in
//! atomic sequences that may block, `else`, `unless`, processes that come and go,
//! looks at other processes.
//!
//! `MOVER_PROGRAMS` sets how many random models are tried, `MOVER_SEED` where to
//! start.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mover_explicit::{Ignoring, Options, Order, Outcome, Stop, explore, explore_with};
use mover_ir::program::{Program, Property};
use mover_reduce::{Movers, movers};
use mover_report::trace::Trace;

/// All interleavings without movers, else chain blocks or, if given, another solution of the
/// ignoring problem.
fn run(
    program: &Program,
    movers: Option<&Movers>,
    ignoring: Option<Ignoring>,
    property: Property,
    told: &str,
) -> Outcome {
    let options = Options {
        order: Order::BreadthFirst,
        movers,
        errors: property == Property::UnreachCall,
        deadlocks: property == Property::NoDeadlock,
        keep_going: false,
        timeout: Some(Duration::from_secs(20)),
        memory: None,
        interrupt: &AtomicBool::new(false),
        progress: &mut |_| {},
    };
    let outcome = match movers.zip(ignoring) {
        Some((movers, ignoring)) => explore_with(ignoring, movers, options),
        None => explore(program, options),
    }
    .expect("the model fits");
    assert_ne!(
        outcome.stopped,
        Some(Stop::Timeout),
        "small models are quick"
    );
    if let Some(violation) = &outcome.violation {
        Trace::replay(
            program,
            &violation.steps,
            violation.property,
            violation.error,
        )
        .unwrap_or_else(|reason| panic!("{reason}: not a run of\n{told}"));
    }
    outcome
}

/// Compares both properties; gives the states stored without and with reduction.
fn compare(program: &Program, told: &str) -> Option<(u64, u64)> {
    let movers = movers(program).ok()?;
    let mut stored = (0, 0);
    for property in Property::ALL {
        let mut program = program.clone();
        let mut movers_here = None;
        if property == Property::NoDeadlock {
            program.resume_after_errors();
            movers_here = Some(mover_reduce::movers(&program).ok()?);
        }
        let movers = movers_here.as_ref().unwrap_or(&movers);
        let all = run(&program, None, None, property, told);
        let reduced = run(&program, Some(movers), None, property, told);
        for ignoring in Ignoring::ALL {
            let found = run(&program, Some(movers), Some(ignoring), property, told);
            let is_found = found.violation.is_some();
            assert!(
                is_found == all.violation.is_some() || !(is_found || ignoring.is_sound()),
                "{ignoring:?}: {property} differs on\n{told}"
            );
        }
        assert_eq!(
            all.violation.is_some(),
            reduced.violation.is_some(),
            "{property} differs on\n{told}"
        );
        stored.0 += all.statistics.states;
        stored.1 += reduced.statistics.states;
    }
    Some(stored)
}

#[test]
fn examples_keep_their_verdicts() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let mut compared = 0;
    for entry in std::fs::read_dir(directory).expect("the examples are there") {
        let path = entry.expect("readable").path();
        let read = mover_promela::parse(&path, &mover_promela::Options::default());
        let program = read.expect("examples are valid").program;
        compared += u32::from(compare(&program, &path.display().to_string()).is_some());
    }
    assert!(compared > 30, "{compared} examples compared");
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % bound
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len() as u64) as usize]
    }
}

const DECLARATIONS: &str = "\
byte x, y; bool m, n; byte owner;
chan r = [0] of { byte }; chan s = [0] of { byte };
chan b = [1] of { byte }; chan c = [2] of { byte };
";

/// Statements that never need anything around them.
const SIMPLE: [&str; 30] = [
    "skip",
    "l = 1",
    "l = 1 - l",
    "x = 1",
    "x = 1 - x",
    "l = x",
    "(x == 1)",
    "(x == 0)",
    "assert(x == 0)",
    "r!1",
    "r!0",
    "r?l",
    "r?1",
    "s!l",
    "s?l",
    "b!1",
    "b?l",
    "c!l",
    "c?l",
    "c?<l>",
    "(len(b) == 0)",
    "(nempty(c))",
    "atomic { !m -> m = true }",
    "m = false",
    "atomic { !n -> n = true; y = 1 - y }",
    "atomic { y = 0; n = false }",
    "atomic { owner == 0 -> owner = _pid + 1 }",
    "atomic { owner == _pid + 1 -> owner = 0 }",
    "d_step { l = 0; x = 0 }",
    "(_nr_pr < 3)",
];

fn statement(random: &mut Random, depth: u32) -> String {
    let simple = random.pick(&SIMPLE).to_string();
    if depth == 0 || random.below(3) > 0 {
        return simple;
    }
    let inner = |random: &mut Random| sequence(random, depth - 1);
    match random.below(7) {
        0 => format!("if :: {} :: {} fi", inner(random), inner(random)),
        1 => format!("if :: {} :: else -> {} fi", inner(random), inner(random)),
        2 => format!("do :: {} :: break od", inner(random)),
        3 => format!("do :: {} :: {} od", inner(random), inner(random)),
        4 => format!("atomic {{ {} }}", inner(random)),
        5 => format!("{{ {} }} unless {{ {} }}", inner(random), inner(random)),
        _ => format!(
            "if :: {} :: {} :: {} fi",
            inner(random),
            inner(random),
            simple
        ),
    }
}

fn sequence(random: &mut Random, depth: u32) -> String {
    let count = 1 + random.below(3);
    let statements: Vec<String> = (0..count).map(|_| statement(random, depth)).collect();
    statements.join("; ")
}

fn model(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::from(DECLARATIONS);
    for process in 0..2 + random.below(2) {
        let body = sequence(&mut random, 2);
        let repeat = random.below(3) == 0;
        let body = if repeat {
            format!("do :: {body} od")
        } else {
            body
        };
        text += &format!("active proctype P{process}() {{ byte l; {body} }}\n");
    }
    text
}

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
        Err(_) => default,
    }
}

#[test]
fn random_models_keep_their_verdicts() {
    let first = setting("MOVER_SEED", 1);
    let count = setting("MOVER_PROGRAMS", 4_000);
    let (mut compared, mut rejected, mut all, mut reduced) = (0, 0, 0, 0);
    for seed in first..first + count {
        let text = model(seed);
        let Ok(read) = mover_promela::parse_text("random", &text) else {
            rejected += 1;
            continue;
        };
        let told = format!("seed {seed}\n{text}");
        if let Some(stored) = compare(&read.program, &told) {
            compared += 1;
            all += stored.0;
            reduced += stored.1;
        }
    }
    println!("{compared} models ({rejected} rejected), {reduced} of {all} states stored");
    assert!(compared * 4 > count * 3, "most models are valid");
    assert!(reduced * 10 < all * 9, "the reduction reduces");
}
