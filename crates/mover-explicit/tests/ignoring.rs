//! The solutions of the ignoring problem, judged by an independent reference.
mod mt;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use mover_explicit::{Ignoring, Options, Order, Outcome, explore_with};
use mover_ir::program::Program;
use mover_ir::semantics::Machine;
use mover_reduce::movers;

fn run(program: &Program, ignoring: Ignoring, errors: bool, deadlocks: bool) -> Outcome {
    let movers = movers(program).expect("these programs have movers");
    let outcome = explore_with(
        ignoring,
        &movers,
        Options {
            order: Order::DepthFirst,
            movers: None,
            errors,
            deadlocks,
            keep_going: false,
            timeout: None,
            memory: None,
            interrupt: &AtomicBool::new(false),
            progress: &mut |_| {},
        },
    )
    .expect("small programs fit");
    if let Some(violation) = &outcome.violation {
        let machine = Machine::new(program);
        let mut state = machine.initial();
        for &step in &violation.steps {
            assert!(machine.steps(&state).contains(&step), "{}", program.name);
            state = machine.apply(&state, step);
        }
        match violation.error {
            Some(_) => assert!(machine.error(&state).is_some(), "{}", program.name),
            None => assert!(machine.is_deadlock(&state), "{}", program.name),
        }
    }
    outcome
}

#[test]
fn probe() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transactions");
    let text = std::fs::read_to_string(directory.join("counts.tsv")).expect("readable");
    let counts: HashMap<(String, String), (u64, bool, bool)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let f: Vec<&str> = line.split('\t').collect();
            (
                (f[0].into(), f[1].into()),
                (f[2].parse().unwrap(), f[4] == "true", f[5] == "true"),
            )
        })
        .collect();
    for sub in ["models", "pitfalls"] {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(directory.join(sub))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let program = mt::parse(&name, &std::fs::read_to_string(&path).unwrap());
            let full = counts[&(name.clone(), "a.full".to_string())];
            print!("{name:24} wrong={} dead={} ", full.1, full.2);
            for (ignoring, column) in [
                (Ignoring::Unsound, "b.fig5"),
                (Ignoring::CpcNoL19, "c.nol19"),
                (Ignoring::Cpc, "c.prop"),
                (Ignoring::Cycle, "d.cycle"),
                (Ignoring::Lfs, "e.lfs"),
            ] {
                let expected = counts[&(name.clone(), column.to_string())];
                let found = run(&program, ignoring, true, false);
                let dead = run(&program, ignoring, false, true);
                print!(
                    " {column}:{}{}{}{}{}",
                    found.statistics.states,
                    if found.statistics.states == expected.0 { "=".into() } else { format!("/{}", expected.0) },
                    if found.violation.is_some() == expected.1 { "" } else { "(E!)" },
                    if dead.violation.is_some() == full.2 { "" } else { "(D!)" },
                    if full.1 { "w" } else { "" },
                );
            }
            println!();
        }
    }
}
