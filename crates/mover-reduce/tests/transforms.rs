//! Transformed programs do what the originals do: judged by the concrete semantics.
//!
//! - `fuse` joins atomic sequences: the states in which nobody is in the middle of one are the same.
//! - `forget_dead_values` resets local variables: places, global variables and channels are the same.
//! - `unfold` makes a template for each thread: errors and deadlocks are the same, and its runs are
//!   runs of the original.

mod common;
mod pieces;

use std::collections::{BTreeSet, VecDeque};

use mover_fuzz::{programs, setting};
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::print::print_program;
use mover_ir::program::{Effect, Program, TemplateId, VariableId};
use mover_ir::semantics::{Machine, State, Step};
use mover_ir::validate::validate;
use mover_reduce::facts::access::edges;
use mover_reduce::transform::dead_values::forget_dead_values;
use mover_reduce::transform::fuse::fuse;
use mover_reduce::transform::unfold::unfold;

use common::{models, read};
use pieces::{cells, instance, step, thread};

const MOST_STATES: usize = 2_000;

/// All reachable states; none if there are too many.
fn reachable(program: &Program) -> Option<BTreeSet<State>> {
    let machine = Machine::new(program);
    let mut seen = BTreeSet::from([machine.initial()]);
    let mut work = VecDeque::from([machine.initial()]);
    while let Some(state) = work.pop_front() {
        for step in machine.undecided_steps(&state) {
            let last = machine.choices(&state, step).unwrap_or(0);
            if last > 16 {
                return None;
            }
            for choice in 0..=last {
                let next = machine.apply(&state, Step { choice, ..step });
                if seen.insert(next.clone()) {
                    work.push_back(next);
                }
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(seen)
}

/// States between atomic sequences. (An error ends the run, also in the middle of one.)
fn between(program: &Program) -> Option<BTreeSet<State>> {
    let mut states = reachable(program)?;
    states.retain(|state| state.exclusive.is_none());
    Some(states)
}

/// The same without the values of local variables.
fn without_locals(states: BTreeSet<State>) -> BTreeSet<State> {
    let forget = |mut state: State| {
        for thread in state.threads.iter_mut().flatten() {
            thread.locals.clear();
        }
        state
    };
    states.into_iter().map(forget).collect()
}

/// Whether a run ends in an error and whether one gets stuck.
fn ends(program: &Program) -> Option<(bool, bool)> {
    let machine = Machine::new(program);
    let states = reachable(program)?;
    let error = states.iter().any(|state| machine.error(state).is_some());
    let deadlock = states.iter().any(|state| machine.is_deadlock(state));
    Some((error, deadlock))
}

/// What is wrong with the transformations of a program; nothing also if it is too large.
fn wrong_in(program: &Program, unfolded_ones: &mut usize) -> Option<&'static str> {
    // The plan declines these before it transforms anything.
    if program.uses_priorities() || program.uses_timeout() {
        return None;
    }
    let original = between(program)?;
    let mut fused = fuse(program).program;
    if between(&fused)? != original {
        return Some("fuse");
    }
    forget_dead_values(&mut fused);
    if without_locals(between(&fused)?) != without_locals(original) {
        return Some("dead values");
    }
    let unfolded = unfold(program)?;
    *unfolded_ones += 1;
    if ends(&unfolded.program)? != ends(program)? {
        return Some("unfold");
    }
    // One run to its end, always by the last step that is possible.
    let machine = Machine::new(&unfolded.program);
    let (mut state, mut run) = (machine.initial(), Vec::new());
    while let Some(&step) = machine.steps(&state).last()
        && run.len() < 200
    {
        state = machine.apply(&state, step);
        run.push(step);
    }
    let Ok(told) = unfolded.original_steps(program, &run) else {
        return Some("a run of the unfolded program cannot be told");
    };
    let judge = Machine::new(program);
    let mut at = judge.initial();
    for step in told {
        if !judge.can_take(&at, step) {
            return Some("a run of the unfolded program");
        }
        at = judge.apply(&at, step);
    }
    // Threads have other numbers there, which are seen where they mark what they hold.
    let has_marks = program.any_expr(|expr| *expr == Expr::ThreadId);
    (!has_marks && at.globals != state.globals).then_some("the end of a run")
}

#[test]
fn transformed_models_do_the_same() {
    let mut unfolded = 0;
    for model in models() {
        let wrong = wrong_in(&model.program, &mut unfolded);
        assert_eq!(wrong, None, "{}\n{}", model.name, model.text);
    }
}

#[test]
fn transformed_random_programs_do_the_same() {
    let first = setting("MOVER_SEED", 1);
    let mut unfolded = 0;
    for seed in first..first + programs(400) {
        let program = mover_fuzz::ir::random(seed);
        let wrong = wrong_in(&program, &mut unfolded);
        assert_eq!(wrong, None, "seed {seed}\n{}", print_program(&program));
    }
    println!("{unfolded} programs unfolded");
    assert!(unfolded > 0);
}

/// The texts of a program's edges after fusing, without ends and errors.
fn fused_texts(text: &str) -> Vec<String> {
    let fused = fuse(&read(text));
    let is_shown = |text: &&String| *text != "-end-";
    let texts = edges(&fused.program).map(|(_, edge)| &edge.text);
    texts.filter(is_shown).cloned().collect()
}

#[test]
fn atomic_sequences_are_joined_where_nobody_can_come_between() {
    let joined = fused_texts("byte x; active proctype P() { atomic { x == 0; x = 1; x = 2 } }");
    assert_eq!(joined, ["x == 0; x = 1; x = 2"]);
    // The second statement may have to wait; there is a choice; nothing is atomic.
    let waits = fused_texts("byte x, y; active proctype P() { atomic { x = 1; y == 1 } }");
    assert_eq!(waits, ["x = 1", "y == 1"]);
    let chooses =
        fused_texts("byte x; active proctype P() { atomic { x = 1; if :: x = 2 :: x = 3 fi } }");
    assert!(chooses.contains(&"x = 1".to_string()), "{chooses:?}");
    let apart = fused_texts("byte x; active proctype P() { x = 1; x = 2 }");
    assert_eq!(apart, ["x = 1", "x = 2"]);
}

#[test]
fn one_half_of_a_rendezvous_is_not_joined() {
    let text = "chan c = [0] of { byte }; byte x;
        active proctype P() { atomic { c!1; x = 1 } }
        active proctype Q() { byte l; atomic { c?l; x = 2 } }";
    assert_eq!(fused_texts(text), ["c!1", "x = 1", "c?l", "x = 2"]);
}

/// How many states a program has as it is and when it forgets.
fn states_before_and_after(text: &str) -> (usize, usize) {
    let mut program = read(text);
    let count = |program: &Program| reachable(program).expect("it is small").len();
    let before = count(&program);
    forget_dead_values(&mut program);
    (before, count(&program))
}

#[test]
fn dead_values_are_forgotten_and_live_ones_are_kept() {
    let dead = "byte x; active proctype P() { byte l; if :: l = 1 :: l = 2 fi; x = 3; x = 4 }";
    let (before, after) = states_before_and_after(dead);
    assert!(after < before, "{after} < {before}");
    let live = "byte x; active proctype P() { byte l; if :: l = 1 :: l = 2 fi; x = 3; x = l }";
    let (before, after) = states_before_and_after(live);
    assert!(after <= before);
    // Both values come through to x.
    let mut program = read(live);
    forget_dead_values(&mut program);
    let states = reachable(&program).expect("it is small");
    let values: BTreeSet<u64> = states.iter().map(|state| state.globals[0]).collect();
    assert_eq!(values, BTreeSet::from([0, 1, 2, 3]));
    // Another thread looks at it.
    let seen = "byte y; active proctype P() { byte l; l = 2; here: skip; skip }
        active proctype Q() { P@here; y = P:l }";
    let mut program = read(seen);
    forget_dead_values(&mut program);
    let states = reachable(&program).expect("it is small");
    assert!(states.iter().any(|state| state.globals[0] == 2));
}

/// A first thread that starts two others in a loop, each with its number of the round:
/// `while (i < 2) { start W(i); i++ }` and `W(p) { x[p] = 1 }`. The bound of the loop is given.
fn starting(bound: Expr) -> Program {
    let byte = Ty::unsigned(8);
    let own = || Place::scalar(VariableRef::Local(VariableId(0)), byte);
    let i = || Expr::Read(own());
    let in_loop = Expr::binary(BinaryOp::ULt, i(), bound);
    let start = Effect::Spawn {
        template: TemplateId(1),
        args: vec![i()],
        priority: 0,
        result: None,
    };
    let count = Effect::Assign {
        place: own(),
        value: Expr::binary(BinaryOp::Add, i(), Expr::constant(1, 8)),
    };
    let slot = Place::element(
        VariableRef::Global(VariableId(0)),
        i().resize(32, false),
        byte,
    );
    let write = Effect::Assign {
        place: slot,
        value: Expr::constant(1, 8),
    };
    let mut head = step(in_loop.clone(), vec![start, count], 0);
    head.edges
        .extend(step(in_loop.negate(), Vec::new(), 1).edges);
    let mut worker = thread(
        "W",
        vec![cells("p", byte, 1, 0, false)],
        vec![step(Expr::TRUE, vec![write], 1)],
    );
    worker.params = 1;
    let program = Program {
        globals: vec![cells("x", byte, 2, 0, false)],
        templates: vec![
            thread("main", vec![cells("i", byte, 1, 0, false)], vec![head]),
            worker,
        ],
        initial: vec![instance(0)],
        max_threads: 4,
        ..Program::default()
    };
    assert_eq!(validate(&program), Ok(()));
    program
}

#[test]
fn what_is_unfolded_and_what_is_not() {
    let known = starting(Expr::constant(2, 8));
    let unfolded = unfold(&known).expect("the loop is known");
    // The first thread and one template for each start.
    assert_eq!(unfolded.program.templates.len(), 3);
    assert_eq!(wrong_in(&known, &mut 0), None);
    let values = |program: &Program| -> BTreeSet<Vec<u64>> {
        let states = reachable(program).expect("it is small");
        states.into_iter().map(|state| state.globals).collect()
    };
    assert_eq!(values(&known), values(&unfolded.program));

    // How often the loop runs depends on how many threads there are.
    assert!(unfold(&starting(Expr::ThreadCount.resize(8, false))).is_none());
    // Nothing is started.
    assert!(unfold(&starting(Expr::constant(0, 8))).is_none());
    // More starts than there can be threads.
    assert!(unfold(&starting(Expr::constant(4, 8))).is_none());
    let mut two = starting(Expr::constant(2, 8));
    two.initial.push(instance(0));
    assert!(unfold(&two).is_none());
    // A worker that starts others.
    let mut nested = starting(Expr::constant(2, 8));
    let spawn = nested.templates[0].locations[0].edges[0].effects[0].clone();
    nested.templates[1].locations[0].edges[0]
        .effects
        .push(spawn);
    assert!(unfold(&nested).is_none());
}
