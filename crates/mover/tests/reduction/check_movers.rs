//! What is declared to commute does: on every example and on random models, for
//! classes that are known before the search and for those found out in it; and a
//! wrong declaration is noticed.
//!
//! `MOVER_PROGRAMS` sets how many random models are tried, `MOVER_SEED` where to
//! start.

use std::path::Path;
use std::time::Duration;

use mover_engine::Control;
use mover_explicit::{Claim, MoverCheck, check_movers};
use mover_fuzz::{Model, compare, of_seeds};
use mover_ir::program::Program;
use mover_reduce::facts::thread_bound::most_threads;
use mover_reduce::{Heuristics, Movers, PhaseFacts, Reduction, ReductionPlan, movers};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Classes {
    Static,
    Phase,
    Dynamic,
}

/// Enough for a small model; some random ones count for ever.
const A_MOMENT: Duration = Duration::from_millis(100);

const ALL: [Classes; 3] = [Classes::Static, Classes::Phase, Classes::Dynamic];

fn try_movers(movers: &Movers, classes: Classes) -> MoverCheck {
    try_movers_for(Duration::from_secs(3), movers, classes)
}

fn try_movers_for(timeout: Duration, movers: &Movers, classes: Classes) -> MoverCheck {
    let facts = PhaseFacts::new(movers);
    let facts = (classes != Classes::Static).then_some(&facts);
    let control = Control::unlimited()
        .within(timeout)
        .with_memory(Some(1 << 29));
    let threads = most_threads(&movers.fused.program) as usize;
    let plan = ReductionPlan::of(movers, Reduction::Dynamic, Heuristics::ALL, Some(threads));
    let plan = (classes == Classes::Dynamic).then_some(&plan);
    check_movers(movers, facts, plan, &control, &mut |_| {}).expect("it fits")
}

/// The text of a mover that is none, for a test that fails.
fn told(movers: &Movers, checked: &MoverCheck) -> Option<String> {
    let wrong = checked.wrong.as_ref()?;
    let program = &movers.fused.program;
    let text = |taken: &mover_explicit::Taken| {
        let template = program.template(taken.template);
        let edge = &template.location(taken.location).edges[taken.edge];
        format!("{}[{}] {}", template.name, taken.thread, edge.text)
    };
    let all = |steps: &[mover_explicit::Taken]| {
        let texts: Vec<String> = steps.iter().map(text).collect();
        texts.join("; ")
    };
    Some(format!(
        "{:?}, {:?}: {} beside {} after {}",
        wrong.claim,
        wrong.defect,
        all(&wrong.mover),
        all(&wrong.other),
        all(&wrong.path)
    ))
}

fn read(text: &str) -> Program {
    let read = mover_promela::parse_text("test", text);
    read.unwrap_or_else(|_| panic!("no model: {text}")).program
}

#[test]
fn movers_of_the_examples_commute() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let mut complete = 0;
    for entry in std::fs::read_dir(directory).expect("the examples are there") {
        let path = entry.expect("readable").path();
        let read = mover_promela::parse(&path, &mover_promela::Options::default());
        let program = read.expect("examples are valid").program;
        let Ok(movers) = movers(&program) else {
            continue;
        };
        for classes in ALL {
            let checked = try_movers(&movers, classes);
            if let Some(wrong) = told(&movers, &checked) {
                panic!("{}, {classes:?}: {wrong}", path.display());
            }
            complete += u32::from(checked.stopped.is_none());
        }
    }
    println!("{complete} examples tried to the end");
    assert!(complete > 60, "{complete} examples tried to the end");
}

/// What is wrong with a model's movers.
fn wrong_in(model: &Model) -> Option<String> {
    let read = mover_promela::parse_text("random", &model.text()).ok()?;
    let movers = movers(&read.program).ok()?;
    ALL.into_iter().find_map(|classes| {
        let wrong = told(&movers, &try_movers_for(A_MOMENT, &movers, classes))?;
        Some(format!("{classes:?}: {wrong}"))
    })
}

#[test]
fn movers_of_random_models_commute() {
    of_seeds(500, |seed| {
        let mut model = Model::random(seed);
        let Some(mut wrong) = wrong_in(&model) else {
            return;
        };
        while let Some((smaller, still)) = model
            .smaller()
            .into_iter()
            .find_map(|smaller| wrong_in(&smaller).map(|wrong| (smaller, wrong)))
        {
            (model, wrong) = (smaller, still);
        }
        panic!("seed {seed}: {wrong}\n{}", model.text());
    });
}

const RACE: &str = "\
byte x;
active proctype P() { x = 1 }
active proctype Q() { x = 2 }
";

const LOCKED: &str = "\
bool m; byte x;
active [2] proctype P() {
    atomic { !m -> m = true };
    x++;
    m = false
}
";

/// Declares the edges with the text to be movers and says what comes of it.
fn declared(text: &str, edge: &str, left: bool, right: bool) -> (Movers, MoverCheck) {
    let mut movers = movers(&read(text)).expect("there are movers");
    let mut found = 0;
    for (template, body) in movers.fused.program.templates.iter().enumerate() {
        for (location, at) in body.locations.iter().enumerate() {
            for number in 0..at.edges.len() {
                if at.edges[number].text.contains(edge) {
                    let mover = &mut movers.edges[template][location][number];
                    (mover.left, mover.right) = (left, right);
                    found += 1;
                }
            }
        }
    }
    assert!(found > 0, "there is an edge `{edge}`");
    let checked = try_movers(&movers, Classes::Static);
    (movers, checked)
}

#[test]
fn wrong_declarations_are_noticed() {
    let race = movers(&read(RACE)).expect("there are movers");
    assert!(try_movers(&race, Classes::Static).wrong.is_none());

    for (left, right, claim) in [
        (true, false, Claim::LeftMover),
        (false, true, Claim::RightMover),
    ] {
        let (movers, checked) = declared(RACE, "x = 1", left, right);
        let wrong = checked.wrong.as_ref().expect("x = 1 does not move");
        assert_eq!(wrong.claim, claim);
        let told = told(&movers, &checked).unwrap_or_default();
        assert!(
            told.contains("P[0] x = 1 beside Q[1] x = 2 after"),
            "{told}"
        );
    }

    // Taking a lock moves right, not left; giving it back moves left, not right.
    let (_, checked) = declared(LOCKED, "!m", false, true);
    assert!(checked.wrong.is_none() && checked.pairs > 0);
    let (_, checked) = declared(LOCKED, "!m", true, false);
    assert!(
        checked
            .wrong
            .is_some_and(|wrong| wrong.claim == Claim::LeftMover)
    );
    let (_, checked) = declared(LOCKED, "m = false", false, true);
    assert!(
        checked
            .wrong
            .is_some_and(|wrong| wrong.claim == Claim::RightMover)
    );
}

/// Models in which another process decides: by not yet waiting for a rendezvous, or about what is in
/// the middle of an atomic sequence. They are cases of `cases.rs`, too.
#[test]
fn what_others_decide_about_is_seen() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/promela");
    let mut tried = 0;
    for folder in ["missing_offers", "atomic_middles"] {
        for entry in std::fs::read_dir(cases.join(folder)).expect("the cases are there") {
            let path = entry.expect("readable").path();
            let read = mover_promela::parse(&path, &mover_promela::Options::default());
            let program = read.expect("a model").program;
            let name = path.display();
            let compared =
                compare(&program, u64::MAX).unwrap_or_else(|mismatch| panic!("{name}: {mismatch}"));
            assert!(compared.is_ok_and(|compared| compared.is_wrong), "{name}");
            let movers = movers(&program).expect("there are movers");
            for classes in ALL {
                let wrong = told(&movers, &try_movers(&movers, classes));
                assert_eq!(wrong, None, "{classes:?}, {name}");
            }
            tried += 1;
        }
    }
    assert!(tried >= 7, "{tried} models tried");
}
