//! What is proved of several threads together (deadlocks, data races), and of programs whose number of
//! threads is a constant: by small programs, and by random ones that the concrete semantics judges.

use mover_engine::Control;
use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{
    AccessedMemory, Effect, Instance, MemoryAccess, Program, TemplateId, VariableId,
};
use mover_reduce::transform::repeated_creation::repeated_creation;

use super::configurations::Configurations;
use super::rules::Rules;
use super::tests::{Do, M, Random, X, Y, count, fails_with, program, random_program, reaches_with};
use super::view_sets::{Follow, ViewSets};

const N: u32 = 4;

/// What views of so many threads prove.
#[derive(Clone, Copy, Default)]
struct Proved {
    assertions: bool,
    deadlocks: bool,
    races: bool,
}

fn proved(program: &Program, width: usize) -> Proved {
    let Ok(rules) = Rules::new(program) else {
        return Proved::default();
    };
    let Some(configurations) = Configurations::new(program, &rules, true) else {
        return Proved::default();
    };
    let mut sets = ViewSets::new(&configurations, width);
    if sets.close(Follow::ALL, &Control::unlimited()).is_err() {
        return Proved::default();
    }
    Proved {
        assertions: true,
        deadlocks: !sets.may_deadlock(),
        races: width > 1 && !sets.may_race(),
    }
}

/// The program with an access for each use of `X` and `Y`; one in a step that waits is atomic.
fn with_accesses(mut program: Program) -> Program {
    let places = program.templates.iter_mut().flat_map(|t| &mut t.locations);
    for place in places {
        for edge in &place.edges {
            for number in [X, Y] {
                let variable = VariableRef::Global(VariableId(number));
                let mut is_read = false;
                let mut look = |part: &Expr| {
                    is_read |= matches!(part, Expr::Read(place) if place.variable == variable);
                };
                edge.guard.walk(&mut look);
                edge.effects
                    .iter()
                    .for_each(|effect| effect.walk(&mut look));
                let mut written = edge.effects.iter().flat_map(Effect::written_places);
                let writes = written.any(|place| place.variable == variable);
                if is_read || writes {
                    place.accesses.push(MemoryAccess {
                        guard: Expr::TRUE,
                        memory: AccessedMemory::Cell {
                            variable: VariableId(number),
                            index: Expr::int(0),
                        },
                        writes,
                        atomic: edge.guard != Expr::TRUE,
                        ahead: false,
                        span: None,
                    });
                }
            }
        }
    }
    program
}

#[test]
fn deadlocks_of_small_programs_are_not_proved_away() {
    use Do::*;
    let ends_inside: &[Do] = &[Take(M)];
    let two_locks: &[Do] = &[Take(M), Take(N), Release(N), Release(M)];
    let other_order: &[Do] = &[Take(N), Take(M), Release(M), Release(N)];
    let cases: [&[&[Do]]; 2] = [&[ends_inside], &[two_locks, other_order]];
    for threads in cases {
        let program = program(threads, &[]);
        for width in 1..=3 {
            let is_proved = proved(&program, width).deadlocks;
            assert!(!is_proved, "{threads:?} with {width}");
        }
    }
}

#[test]
fn whoever_waits_for_a_lock_that_is_released_goes_on() {
    use Do::*;
    let once: &[Do] = &[Take(M), Release(M)];
    let one_after_the_other: &[Do] = &[Take(M), Release(M), Take(N), Release(N)];
    for threads in [&[once][..], &[once, one_after_the_other]] {
        let program = program(threads, &[]);
        for width in 2..=3 {
            let is_proved = proved(&program, width).deadlocks;
            assert!(is_proved, "{threads:?} with {width}");
        }
    }
}

#[test]
fn creating_more_threads_is_no_way_out_of_a_deadlock() {
    // The first thread of this program waits for ever, beside a creator of threads that wait, too.
    let mut waiting = program(&[&[Do::Assume(X, 1)]], &[Do::Assume(X, 1)]);
    waiting.initial = vec![Instance::new(0, vec![]), Instance::new(1, vec![])];
    waiting.initial.push(Instance::new(1, vec![]));
    let repeated = repeated_creation(&waiting).expect("it creates threads");
    for width in 1..=3 {
        let found = proved(&repeated, width);
        assert!(found.assertions && !found.deadlocks, "{width}");
    }
}

#[test]
fn what_is_proved_of_threads_together_is_judged_by_the_semantics() {
    let count = count(80, 4_000);
    let mut random = Random(0x5851_F42D_4C95_7F2D);
    let (mut free, mut raceless, mut stuck, mut racing) = (0, 0, 0, 0);
    for number in 0..count {
        let (program, text) = random_program(&mut random);
        let program = with_accesses(program);
        let somehow = |is_bad: &dyn Fn(&mover_ir::semantics::Machine, &_) -> bool| {
            (1..=4).any(|created| reaches_with(&program, created, is_bad) == Some(true))
        };
        let deadlocks = somehow(&|machine, state| machine.is_deadlock(state));
        let races = somehow(&|machine, state| machine.race(state).is_some());
        for width in 1..=3 {
            let found = proved(&program, width);
            assert!(
                !(deadlocks && found.deadlocks),
                "program {number} deadlocks, proved not to with {width}: {text}"
            );
            assert!(
                !(races && found.races),
                "program {number} races, proved not to with {width}: {text}"
            );
            free += usize::from(found.deadlocks);
            raceless += usize::from(found.races);
        }
        stuck += usize::from(deadlocks);
        racing += usize::from(races);
    }
    println!("{stuck} deadlock, {racing} race; {free} and {raceless} proofs that they do not");
    assert!(
        stuck * 10 > count && racing * 10 > count,
        "too few programs fail"
    );
    assert!(free > 0 && raceless > 0, "nothing is proved");
}

/// The first thread of the program, which creates none any more, beside so many of each other.
fn with_copies(program: &Program, copies: usize) -> Program {
    let mut all = program.clone();
    let head = &mut all.templates[0].locations[0];
    head.edges.retain(|edge| edge.effects.is_empty());
    for template in 1..all.templates.len() as u32 {
        let instance = Instance {
            template: TemplateId(template),
            args: Vec::new(),
            priority: 1,
        };
        all.initial.extend(vec![instance; copies]);
    }
    all.max_threads = all.initial.len() as u32;
    all
}

#[test]
fn a_proof_about_repeated_creation_holds_for_each_number() {
    let count = count(60, 2_000);
    let mut random = Random(0x1405_7B7E_F767_814F);
    let (mut found, mut failing) = (0, 0);
    for number in 0..count {
        let (program, text) = random_program(&mut random);
        let repeated = repeated_creation(&with_copies(&program, 2)).expect("there are two of each");
        let fails = (1..=4).any(|n| fails_with(&with_copies(&program, n), 0) == Some(true));
        for width in 1..=2 {
            let is_proved = proved(&repeated, width).assertions;
            assert!(
                !(fails && is_proved),
                "program {number} is proved for any number but fails: {text}"
            );
            found += usize::from(is_proved);
        }
        failing += usize::from(fails);
    }
    println!("{failing} of {count} fail, {found} proofs");
    assert!(failing * 5 > count && found * 5 > count, "too one-sided");
}
