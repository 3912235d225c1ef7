//! The reduction by transactions, judged by an independent reference.
//!
//! The models and counts come from a reference explorer with its own small
//! language (`.mt`), translated here to the IR. For each model the engine must
//! store as many states as the reference: all interleavings (`a.full`), chain
//! blocks (`h.chain`), chain blocks that keep deadlocks (`dl.chain`). The pitfalls
//! are minimal programs on which plausible but wrong reductions miss an error.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use mover_engine::{Control, Engine, Outcome, Task};
use mover_explicit::Explicit;
use mover_fuzz::ir::mt;
use mover_ir::program::{Program, Property};
use mover_ir::semantics::Machine;
use mover_ir::validate::validate;
use mover_reduce::Reduction;

/// A task for the program as it is, with its dead values.
fn task(program: &Program, errors: bool, deadlocks: bool) -> Task {
    let asked = [
        (errors, Property::UnreachCall),
        (deadlocks, Property::NoDeadlock),
    ];
    let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
    let properties = asked.map(|(_, property)| property).collect();
    Task::unchanged(program.clone(), properties).keep_dead_values(true)
}

fn search(engine: &dyn Engine, task: &Task) -> Outcome {
    engine
        .run(task, &Control::unlimited(), &mut |_| ())
        .expect("small programs fit")
}

fn run(program: &Program, reduction: Reduction, errors: bool, deadlocks: bool) -> Outcome {
    let engine = Explicit {
        reduction,
        ..Explicit::default()
    };
    let outcome = search(&engine, &task(program, errors, deadlocks));
    if let Some(violation) = outcome.violation() {
        let machine = Machine::new(program);
        let mut state = machine.initial();
        for &step in &violation.steps {
            assert!(
                machine.steps(&state).contains(&step),
                "{}",
                program.info.name
            );
            state = machine.apply(&state, step);
        }
        match violation.error {
            Some(_) => assert!(machine.error(&state).is_some(), "{}", program.info.name),
            None => assert!(machine.is_deadlock(&state), "{}", program.info.name),
        }
    }
    outcome
}

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/transactions")
        .join(name)
}

fn models(name: &str) -> Vec<Program> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory(name))
        .expect("the models are there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("readable");
            let name = path.file_stem().expect("a name").to_string_lossy();
            let program = mt::parse(&name, &text);
            assert_eq!(validate(&program), Ok(()), "{name}");
            program
        })
        .collect()
}

struct Expected {
    stored: u64,
    wrong: bool,
    deadlock: bool,
}

fn expectations() -> HashMap<(String, String), Expected> {
    let text = std::fs::read_to_string(directory("counts.tsv")).expect("readable");
    text.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let expected = Expected {
                stored: fields[2].parse().expect("a number"),
                wrong: fields[4] == "true",
                deadlock: fields[5] == "true",
            };
            ((fields[0].to_string(), fields[1].to_string()), expected)
        })
        .collect()
}

#[test]
fn verdicts_and_counts_are_the_references() {
    let expectations = expectations();
    let mut compared = 0;
    for program in models("models") {
        let expected = |explorer: &str| {
            let key = (program.info.name.clone(), explorer.to_string());
            &expectations[&key]
        };
        let full = expected("a.full");
        // To the reference a thread at `assume false` has ended; to mover it waits.
        let stuck = full.deadlock || program.info.name == "fig1_assume";
        for reduction in Reduction::ALL {
            let found = run(&program, reduction, true, false).violation().is_some();
            assert_eq!(
                found, full.wrong,
                "{} errors, {reduction:?}",
                program.info.name
            );
            let found = run(&program, reduction, false, true).violation().is_some();
            assert_eq!(
                found, stuck,
                "{} deadlocks, {reduction:?}",
                program.info.name
            );
        }
        if program.info.name == "counter_printed" {
            // A mutex that is given back by a thread that may not have it is no lock here.
            continue;
        }
        if full.wrong {
            // The reference counts states behind which a thread has gone wrong.
            continue;
        }
        for (explorer, reduction) in [("a.full", Reduction::None), ("h.chain", Reduction::Static)] {
            let stored = run(&program, reduction, true, false).statistics.states;
            assert_eq!(
                stored,
                expected(explorer).stored,
                "{} {explorer}",
                program.info.name
            );
            compared += 1;
        }
        if !full.deadlock {
            let stored = run(&program, Reduction::Static, true, true)
                .statistics
                .states;
            assert_eq!(
                stored,
                expected("dl.chain").stored,
                "{} dl.chain",
                program.info.name
            );
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared} counts compared");
}

#[test]
fn no_pitfall_hides_an_error() {
    let programs = models("pitfalls");
    assert!(programs.len() > 15);
    for program in programs {
        for (errors, deadlocks) in [(true, false), (false, true)] {
            let found = |reduction| {
                run(&program, reduction, errors, deadlocks)
                    .violation()
                    .is_some()
            };
            let all = found(Reduction::None);
            for reduction in Reduction::ALL {
                assert_eq!(found(reduction), all, "{} {reduction:?}", program.info.name);
            }
        }
    }
}
