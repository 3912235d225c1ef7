//! Random programs, explored by the engine and by the concrete semantics.
//!
//! For each program the plain semantics is explored with a hash set and must agree
//! with the engine on the number of states and the verdict, and each counterexample
//! must be a run of the semantics.

use mover_engine::{Control, Engine, Outcome, Task};
use mover_explicit::{Completion, Explicit, Ignoring, Order};
use mover_ir::builder::ProgramBuilder;
use mover_ir::expr::Ty;
use mover_ir::print::print_program;
use mover_ir::program::*;
use mover_ir::semantics::{Machine, State};
use mover_ir::validate::validate;
use mover_reduce::{Reduction, movers};

use mover_fuzz::ir::judge::{Judgement, judge};
use mover_fuzz::ir::{memory, mt, odd};
use mover_fuzz::of_seeds;
use mover_fuzz::random::Random;

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

fn run(
    program: &Program,
    reduction: Reduction,
    order: Order,
    errors: bool,
    deadlocks: bool,
) -> Outcome {
    let engine = Explicit {
        reduction,
        order,
        ..Explicit::default()
    };
    search(&engine, &task(program, errors, deadlocks))
}

/// Runs the steps of a counterexample by the definition and says where they end.
fn replay(program: &Program, outcome: &Outcome) -> (State, u64) {
    let machine = Machine::new(program);
    let mut state = machine.initial();
    let mut stored = 0;
    let violation = outcome.violation().expect("there is a violation");
    for &step in &violation.steps {
        assert!(
            machine.steps(&state).contains(&step),
            "step {step:?} is possible"
        );
        state = machine.apply(&state, step);
        stored += u64::from(state.exclusive.is_none());
    }
    match violation.error {
        Some((template, location)) => {
            let (thread, _) = machine.error(&state).expect("the run ends in an error");
            let thread = state.threads[thread].as_ref().expect("alive");
            assert_eq!((thread.template, thread.location), (template, location));
        }
        None => assert!(machine.is_deadlock(&state)),
    }
    (state, stored)
}

fn compare(program: &Program, judgement: &Judgement) {
    for order in [Order::BreadthFirst, Order::DepthFirst] {
        let all = run(program, Reduction::None, order, false, false);
        assert_eq!(
            all.statistics.states as usize, judgement.stored,
            "states, {order:?}"
        );
        let errors = run(program, Reduction::None, order, true, false);
        assert_eq!(
            errors.violation().is_some(),
            judgement.error,
            "error, {order:?}"
        );
        let deadlocks = run(program, Reduction::None, order, false, true);
        assert_eq!(
            deadlocks.violation().is_some(),
            judgement.deadlock,
            "deadlock, {order:?}"
        );
        let both = run(program, Reduction::None, order, true, true);
        assert_eq!(both.violation().is_some(), judgement.error_depth.is_some());
        for outcome in [&errors, &deadlocks, &both] {
            if outcome.violation().is_some() {
                let (_, length) = replay(program, outcome);
                let is_both = std::ptr::eq(outcome, &both);
                if is_both && order == Order::BreadthFirst {
                    assert_eq!(Some(length), judgement.error_depth, "shortest");
                }
            }
        }
    }
}

/// Several cores see the same states and take the same steps as one, and their counterexamples are as short.
fn compare_jobs(program: &Program, judgement: &Judgement) {
    use Reduction::{Dynamic, None, Phase, Static};
    for reduction in [None, Static, Phase, Dynamic] {
        if reduction != None && movers(program).is_err() {
            continue;
        }
        let with = |jobs, is_asked| {
            let engine = Explicit {
                reduction,
                jobs,
                narrow: 0,
                ..Explicit::default()
            };
            search(&engine, &task(program, is_asked, is_asked))
        };
        let one = with(1, false);
        for jobs in [2, 4] {
            let several = with(jobs, false);
            let told = format!("{reduction}, {jobs} jobs");
            assert_eq!(one.conclusion, several.conclusion, "{told}");
            let (mine, theirs) = (&one.statistics, &several.statistics);
            if matches!(reduction, None | Static) {
                assert_eq!(mine.states, theirs.states, "{told}");
                assert_eq!(mine.transitions, theirs.transitions, "{told}");
                assert_eq!(mine.depth, theirs.depth, "{told}");
            }
        }
        let found = with(2, true);
        assert_eq!(found.violation().is_some(), judgement.error_depth.is_some());
        if found.violation().is_some() {
            let (_, length) = replay(program, &found);
            if reduction == None {
                assert_eq!(Some(length), judgement.error_depth, "shortest, 2 jobs");
            }
        }
    }
}

/// The reduced search must find an error and a deadlock if and only if there are any.
fn compare_reduced(program: &Program, judgement: &Judgement) -> Option<u64> {
    let movers = movers(program).ok()?;
    assert_eq!(validate(&movers.fused.program), Ok(()));
    let mut stored = 0;
    for order in [Order::BreadthFirst, Order::DepthFirst] {
        let errors = run(program, Reduction::Static, order, true, false);
        assert_eq!(
            errors.violation().is_some(),
            judgement.error,
            "error, reduced"
        );
        let deadlocks = run(program, Reduction::Static, order, false, true);
        assert_eq!(
            deadlocks.violation().is_some(),
            judgement.deadlock,
            "deadlock, reduced"
        );
        for outcome in [&errors, &deadlocks] {
            if outcome.violation().is_some() {
                replay(program, outcome);
            }
        }
        stored = run(program, Reduction::Static, order, false, true)
            .statistics
            .states;
    }
    compare_run_time(program, judgement);
    Some(stored)
}

/// So must movers that are found out during the search, with one worker and with several.
fn compare_run_time(program: &Program, judgement: &Judgement) {
    for (reduction, jobs, order) in [
        (Reduction::Phase, 1, Order::BreadthFirst),
        (Reduction::Phase, 1, Order::DepthFirst),
        (Reduction::Dynamic, 1, Order::BreadthFirst),
        (Reduction::Dynamic, 2, Order::BreadthFirst),
    ] {
        for (errors, deadlocks) in [(true, false), (false, true)] {
            let engine = Explicit {
                reduction,
                order,
                jobs,
                narrow: 0,
                ..Explicit::default()
            };
            let found = search(&engine, &task(program, errors, deadlocks));
            let expected = if errors {
                judgement.error
            } else {
                judgement.deadlock
            };
            assert_eq!(
                found.violation().is_some(),
                expected,
                "{reduction}, {jobs} jobs, {order:?}, errors {errors}"
            );
            if found.violation().is_some() {
                replay(program, &found);
            }
        }
    }
}

/// So must each solution of the ignoring problem, with and without right movers, and chain blocks
/// without right movers; the unsound one finds nothing that is not there.
fn compare_solutions(program: &Program, judgement: &Judgement) {
    let compare = |found: &Outcome, expected: bool, is_sound: bool, told: &str| {
        if found.violation().is_some() {
            replay(program, found);
        }
        if is_sound || found.violation().is_some() {
            assert_eq!(found.violation().is_some(), expected, "{told}");
        }
    };
    if movers(program).is_err() {
        return;
    }
    for left_only in [false, true] {
        let blocks = Explicit {
            reduction: Reduction::Static,
            left_only,
            ..Explicit::default()
        };
        for (errors, deadlocks) in [(true, false), (false, true)] {
            let expected = if errors {
                judgement.error
            } else {
                judgement.deadlock
            };
            for ignoring in Ignoring::ALL {
                let told = format!("{ignoring:?}, left only {left_only}, errors {errors}");
                let engine = Completion {
                    search: blocks.clone(),
                    ignoring,
                };
                let found = search(&engine, &task(program, errors, deadlocks));
                compare(&found, expected, ignoring.is_sound(), &told);
            }
            if left_only {
                let found = search(&blocks, &task(program, errors, deadlocks));
                compare(&found, expected, true, "blocks, left only");
            }
        }
    }
}

#[test]
fn the_engine_agrees_with_the_semantics() {
    compare_random(1_500, odd::program);
}

#[test]
fn memory_agrees_with_the_semantics() {
    let (reduced, all) = compare_random(1_500, memory::program);
    assert!(reduced * 10 < all * 9, "the reduction reduces");
}

#[test]
fn races_in_memory_are_not_reduced_away() {
    let (reduced, all) = compare_random(750, memory::racy_program);
    assert!(reduced * 10 < all * 9, "the reduction reduces");
}

#[test]
fn dropping_a_pointer_does_not_commute_with_allocating() {
    let program = memory::dropping_program();
    assert_eq!(validate(&program), Ok(()));
    let judgement = judge(&program).expect("it is small");
    assert!(judgement.error);
    compare(&program, &judgement);
    assert!(compare_reduced(&program, &judgement).is_some());
}

/// Gives the states stored with reduction and without, where there is no violation.
fn compare_random(count: u64, generate: fn(u64) -> Program) -> (u64, u64) {
    let tried = of_seeds(count, |seed| {
        let program = generate(seed);
        if let Err(reason) = validate(&program) {
            panic!("seed {seed}: {reason}\n{}", print_program(&program));
        }
        let judgement = judge(&program)?;
        let result = std::panic::catch_unwind(|| {
            compare(&program, &judgement);
            // Threads that wait for each other in tiny programs take their time.
            if seed.is_multiple_of(16) {
                compare_jobs(&program, &judgement);
            }
            compare_solutions(&program, &judgement);
            compare_reduced(&program, &judgement)
        });
        match result {
            Ok(reduced) => Some((judgement, reduced)),
            Err(_) => panic!("seed {seed} disagrees\n{}", print_program(&program)),
        }
    });
    let count = tried.len() as u64;
    let (mut explored, mut errors, mut deadlocks, mut states) = (0, 0, 0, 0);
    let mut reducible = 0;
    let (mut reduced_states, mut all_states) = (0, 0);
    for (judgement, reduced) in tried.into_iter().flatten() {
        explored += 1;
        errors += u64::from(judgement.error);
        deadlocks += u64::from(judgement.deadlock);
        states += judgement.stored;
        if let Some(reduced) = reduced {
            reducible += 1;
            if !judgement.error && !judgement.deadlock {
                reduced_states += reduced;
                all_states += judgement.stored as u64;
            }
        }
    }
    let large = count - explored;
    println!(
        "{explored} programs ({reducible} with movers), {states} states, {errors} with errors, {deadlocks} with deadlocks, \
         {large} too large; {reduced_states} of {all_states} states stored where there is neither"
    );
    assert!(
        explored * 2 > count,
        "the generator makes mostly small programs"
    );
    assert!(
        errors * 50 > explored && deadlocks * 50 > explored,
        "both verdicts occur"
    );
    assert!(states as u64 > explored * 10, "programs have behaviour");
    (reduced_states, all_states)
}

#[test]
fn transactions_hide_nothing() {
    let tried = of_seeds(1_500, |seed| {
        let text = mt::random_text(&mut Random(seed ^ 0x5EED));
        let program = mt::parse("random", &text);
        assert_eq!(validate(&program), Ok(()), "{text}");
        let judgement = judge(&program)?;
        let result = std::panic::catch_unwind(|| {
            compare_solutions(&program, &judgement);
            compare_reduced(&program, &judgement)
        });
        match result {
            Ok(reduced) => Some((judgement, reduced.expect("these programs have movers"))),
            Err(_) => panic!("seed {seed} disagrees\n{text}"),
        }
    });
    let count = tried.len() as u64;
    let (mut compared, mut errors, mut deadlocks) = (0, 0, 0);
    let (mut stored, mut all) = (0, 0);
    for (judgement, reduced) in tried.into_iter().flatten() {
        compared += 1;
        errors += u64::from(judgement.error);
        deadlocks += u64::from(judgement.deadlock);
        if !judgement.deadlock && !judgement.error {
            stored += reduced;
            all += judgement.stored as u64;
        }
    }
    println!(
        "{compared} programs, {errors} with errors, {deadlocks} with deadlocks; \
         {stored} of {all} states stored where there is neither"
    );
    assert!(compared * 10 > count * 9);
    assert!(errors * 10 > compared && deadlocks * 10 > compared);
    assert!(stored * 3 < all, "the reduction reduces");
}

/// Facts about held locks do not follow a run that resumes after an error, and need not: only a
/// search without reduction resumes.
#[test]
fn a_reduced_search_ends_at_errors() {
    let mut model = ProgramBuilder::new("two assertions");
    let cell = model.global("cell", Ty::BYTE);
    model.main(|thread| {
        thread.assert(cell.eq(1), "the first one");
        thread.assert(cell.eq(2), "the second one");
    });
    let program = model.build().expect("it is valid");
    let met = |reduction| {
        let engine = Explicit {
            reduction,
            keep_going: true,
            ..Explicit::default()
        };
        let found = search(&engine, &task(&program, true, false));
        found.statistics.violations
    };
    assert_eq!(met(Reduction::None), 2);
    for reduction in [Reduction::Static, Reduction::Phase, Reduction::Dynamic] {
        assert_eq!(met(reduction), 1, "{reduction}");
    }
}
