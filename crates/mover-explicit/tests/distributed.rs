//! Distributed searches of random programs, with threads in place of processes: the verdicts of the concrete
//! semantics and, without beliefs, the counts of one process.

use std::sync::{Arc, Mutex};
use std::thread;

use mover_engine::{Control, Engine, Outcome, Task};
use mover_explicit::Explicit;
use mover_explicit::distributed::{Joining, Peers, TOKEN_BYTES, listen};
use mover_fuzz::ir::judge::{Judgement, judge};
use mover_fuzz::ir::{memory, odd};
use mover_ir::print::print_program;
use mover_ir::program::{Program, Property};
use mover_ir::semantics::Machine;
use mover_reduce::Reduction;

/// Searches with so many processes; the outcome is that of the first.
fn distributed(count: usize, task: &Arc<Task>, reduction: Reduction) -> Outcome {
    let listeners: Vec<_> = (0..count)
        .map(|_| listen("127.0.0.1:0").expect("there is a port"))
        .collect();
    let addresses: Vec<String> = listeners
        .iter()
        .map(|listener| listener.local_addr().expect("it has one").to_string())
        .collect();
    let parts = listeners.into_iter().enumerate().map(|(index, listener)| {
        let (addresses, task) = (addresses.clone(), Arc::clone(task));
        thread::spawn(move || {
            let joining = Joining {
                addresses,
                index,
                token: [1; TOKEN_BYTES],
                identity: [("build", 0), ("options", 0), ("program", 0)],
                is_cancelled: &|| false,
            };
            let peers: Peers = joining.join(&listener).expect("all come");
            let engine = Explicit {
                reduction,
                peers: Some(Arc::new(Mutex::new(Some(peers)))),
                ..Explicit::default()
            };
            engine
                .run(&task, &Control::unlimited(), &mut |_| ())
                .expect("small programs fit")
        })
    });
    let parts: Vec<_> = parts.collect();
    let outcomes = parts.into_iter().map(|part| part.join().expect("it ends"));
    outcomes.collect::<Vec<_>>().swap_remove(0)
}

/// Whether the steps of a counterexample are a run that ends as it says.
fn assert_replays(program: &Program, outcome: &Outcome) {
    let Some(violation) = outcome.violation() else {
        return;
    };
    let machine = Machine::new(program);
    let mut state = machine.initial();
    for &step in &violation.steps {
        assert!(
            machine.steps(&state).contains(&step),
            "{step:?} is possible"
        );
        state = machine.apply(&state, step);
    }
    match violation.error {
        Some(_) => assert!(machine.error(&state).is_some()),
        None => assert!(machine.is_deadlock(&state)),
    }
}

fn compare(program: &Program, judgement: &Judgement, processes: usize) {
    let properties = vec![Property::UnreachCall, Property::NoDeadlock];
    let expected = judgement.error_depth.is_some();
    let all = Arc::new(Task::unchanged(program.clone(), Vec::new()).keep_dead_values(true));
    let counted = distributed(processes, &all, Reduction::None);
    assert_eq!(counted.statistics.states as usize, judgement.stored);
    let task = Arc::new(Task::unchanged(program.clone(), properties));
    for reduction in [
        Reduction::None,
        Reduction::Static,
        Reduction::Phase,
        Reduction::Dynamic,
    ] {
        let outcome = distributed(processes, &task, reduction);
        assert_eq!(outcome.violation().is_some(), expected, "{reduction:?}");
        assert_replays(program, &outcome);
        let alone = Explicit {
            reduction,
            ..Explicit::default()
        };
        let alone = alone
            .run(&task, &Control::unlimited(), &mut |_| ())
            .expect("small programs fit");
        if !expected && matches!(reduction, Reduction::None | Reduction::Static) {
            let counts = |outcome: &Outcome| {
                let statistics = outcome.statistics;
                (statistics.states, statistics.transitions, statistics.depth)
            };
            assert_eq!(counts(&outcome), counts(&alone), "{reduction:?}");
        }
        if !expected {
            assert_eq!(outcome.bounds, alone.bounds, "{reduction:?}");
        }
    }
}

fn compare_random(seeds: std::ops::Range<u64>, generate: fn(u64) -> Program) {
    let mut judged = 0;
    for seed in seeds {
        let program = generate(seed);
        let Some(judgement) = judge(&program) else {
            continue;
        };
        judged += 1;
        let processes = 2 + seed as usize % 3;
        let compared = std::panic::catch_unwind(|| compare(&program, &judgement, processes));
        if let Err(panic) = compared {
            eprintln!(
                "seed {seed}, {processes} processes:\n{}",
                print_program(&program)
            );
            std::panic::resume_unwind(panic);
        }
    }
    assert!(judged > 10, "only {judged} programs are small enough");
}

#[test]
fn several_processes_agree_with_the_semantics() {
    compare_random(0..60, odd::program);
}

#[test]
fn objects_are_understood_by_other_processes() {
    compare_random(0..60, memory::program);
}
