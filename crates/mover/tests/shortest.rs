//! The trace that is told has as few context switches as any.
//!
//! The judge is a search of its own on the concrete semantics: from the states that can be come to
//! with k switches each thread runs alone as far as it can, and what it comes to by that has k + 1.
//! It knows no costs, no bounds and no trace to begin with. Every unsafe example of the repository
//! is tried, with what different engines find.

mod common;

use std::collections::HashSet;
use std::path::Path;

use common::{mover, own_examples, run};
use mover_fuzz::on_all_cores;
use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Machine, State, Thing};
use serde_json::Value;

/// More states than this are not searched.
const MOST_STATES: usize = 150_000;

/// The fewest context switches of a violation, unless there are too many states.
fn fewest_switches(program: &Program, property: Property) -> Option<usize> {
    let machine = Machine::new(program);
    let violates = |state: &State| match property {
        Property::NoDeadlock => machine.is_deadlock(state),
        _ => {
            let error = machine.error(state);
            error.is_some_and(|(_, mark)| mark.property == property)
        }
    };
    let mut seen: HashSet<(State, usize)> = HashSet::new();
    let mut starts = vec![machine.initial()];
    for switches in 0.. {
        let mut reached = Vec::new();
        for start in starts {
            for thread in 0..start.threads.len() {
                let mut work = vec![start.clone()];
                while let Some(state) = work.pop() {
                    if violates(&state) {
                        return Some(switches);
                    }
                    for step in machine.undecided_steps(&state) {
                        if step.by.thread != thread {
                            continue;
                        }
                        if machine.choices(&state, step).is_some_and(|last| last > 255) {
                            return None;
                        }
                    }
                    for (step, next) in machine.successors(&state) {
                        if step.by.thread == thread && seen.insert((next.clone(), thread)) {
                            work.push(next.clone());
                            reached.push(next);
                        }
                    }
                    if seen.len() > MOST_STATES {
                        return None;
                    }
                }
            }
        }
        assert!(!reached.is_empty(), "no violation at all");
        starts = reached;
    }
    None
}

/// What the header promises: the property that is violated.
fn violated(file: &Path) -> Option<Property> {
    let text = std::fs::read_to_string(file).expect("a readable example");
    let words = text.lines().find_map(|line| line.split_once("expect:"))?.1;
    let property = words.trim().strip_prefix("unsafe ")?;
    Some(property.trim().parse().expect("a property"))
}

/// The options for what is not asked by itself.
fn options(property: Property) -> Vec<String> {
    match property {
        Property::NoOverflow | Property::MemoryCleanup => {
            vec!["--property".into(), property.to_string()]
        }
        _ => Vec::new(),
    }
}

fn check(file: &Path, property: Property, more: &[&str]) -> Value {
    let ended = run(mover()
        .args(["check", "--json"])
        .args(options(property))
        .args(more)
        .arg(file));
    assert_eq!(ended.code, Some(10), "{}: {}", file.display(), ended.stderr);
    ended.json()
}

fn compare(file: &Path, program: &Program, property: Property, ways: &[&[&str]]) {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    // None of the examples is beyond the bound so far; one that is must be named here.
    let fewest = fewest_switches(program, property)
        .unwrap_or_else(|| panic!("{name} has more than {MOST_STATES} states"));
    for way in ways {
        let answer = check(file, property, way);
        assert_eq!(answer["property"], property.name(), "{name} {way:?}");
        let story = &answer["story"];
        assert_eq!(story["context_switches"], fewest, "{name} {way:?}");
        assert_eq!(story["is_shortest"], true, "{name} {way:?}");
        let sentence = story["sentence"].as_str().expect("a sentence");
        assert!(!sentence.is_empty(), "{name} {way:?}: no sentence");
    }
}

#[test]
fn promela_examples_have_shortest_traces_with_every_engine() {
    let ways: [&[&str]; 4] = [
        &[],
        &["--order", "dfs"],
        &["--reduce", "static", "--order", "dfs"],
        &["--engine", "bmc"],
    ];
    let compared = on_all_cores(&own_examples("promela", "pml"), |file| {
        let Some(property) = violated(file) else {
            return 0;
        };
        let read = mover_promela::parse(file, &mover_promela::Options::default())
            .unwrap_or_else(|_| panic!("{} is read", file.display()));
        // Bounded model checking takes long for the deep ones.
        let is_deep = [
            "river_crossing",
            "stack_aba",
            "lost_update",
            "sliding_window_overrun",
        ]
        .iter()
        .any(|name| file.ends_with(format!("{name}.pml")));
        let ways = if is_deep { &ways[..3] } else { &ways };
        compare(file, &read.program, property, ways);
        1
    });
    let compared: u32 = compared.iter().sum();
    assert!(compared >= 8, "only {compared} examples were compared");
}

#[cfg(feature = "c")]
#[test]
fn c_examples_have_shortest_traces() {
    let ways: [&[&str]; 2] = [&[], &["--order", "dfs", "--reduce", "phase"]];
    let compared = on_all_cores(&own_examples("c", "c"), |file| {
        let Some(property) = violated(file) else {
            return 0;
        };
        let mut properties = mover_c::DEFAULT_PROPERTIES.to_vec();
        if !properties.contains(&property) {
            properties = vec![property];
        }
        let options = mover_c::Options {
            properties: properties.into_iter().collect(),
            ..mover_c::Options::default()
        };
        let read = mover_c::read(std::slice::from_ref(file), &options)
            .unwrap_or_else(|_| panic!("{} is read", file.display()));
        compare(file, &read.program, property, &ways);
        1
    });
    let compared: u32 = compared.iter().sum();
    assert!(compared >= 20, "only {compared} examples were compared");
}

/// The option shows what the engine found; whatever is told can be replayed.
#[test]
fn a_trace_as_found_is_no_better_than_the_one_told() {
    let file = common::repository().join("examples/promela/mutex_naive.pml");
    let found = check(
        &file,
        Property::UnreachCall,
        &["--reduce", "none", "--as-found"],
    );
    let told = check(&file, Property::UnreachCall, &["--reduce", "none"]);
    let switches = |answer: &Value| answer["story"]["context_switches"].as_u64();
    assert_eq!(switches(&found), Some(4));
    assert_eq!(switches(&told), Some(2));
    assert_eq!(told["story"]["found_context_switches"], 4);
    assert!(found["story"]["is_shortest"].is_null());
}

/// The cells of the globals: variable, first bit, width.
fn cells(program: &Program) -> Vec<(usize, u64, u64)> {
    let mut cells = Vec::new();
    for (number, variable) in program.globals.iter().enumerate() {
        let width = u64::from(variable.ty.width);
        cells.extend((0..u64::from(variable.len)).map(|cell| (number, cell * width, width)));
    }
    cells
}

/// Walks at random and tries the accesses that are recorded: a step writes nothing else, and what
/// it neither reads nor writes makes no difference to it. Gives the number of steps.
fn try_accesses(program: &Program, seed: u64) -> usize {
    let machine = Machine::new(program);
    let cells = cells(program);
    let mut random = seed;
    let mut state = machine.initial();
    for number in 0..80 {
        let steps = machine.undecided_steps(&state);
        if steps.is_empty() {
            return number;
        }
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let mut step = steps[(random >> 33) as usize % steps.len()];
        step.choice = machine.choices(&state, step).map_or(0, |last| last / 2);
        let accesses = machine.accesses(&state, step);
        let next = machine.apply(&state, step);
        let touches = |at: usize, is_write: bool| {
            let (variable, first_bit, bits) = cells[at];
            accesses.iter().any(|access| {
                access.is_write == is_write
                    && access.thing == Thing::Global(variable)
                    && access.first_bit < first_bit + bits
                    && first_bit < access.first_bit + access.bits
            })
        };
        // The number of a new object depends on everything that could mention it.
        let allocates = accesses.effects.iter().any(|access| {
            matches!(access.thing, Thing::Life(_)) && access.is_write && access.value == 1
        });
        for at in 0..cells.len() {
            let is_changed = state.globals[at] != next.globals[at];
            assert!(!is_changed || touches(at, true), "a write is not recorded");
            if allocates || touches(at, true) || touches(at, false) {
                continue;
            }
            let mut other = state.clone();
            other.globals[at] ^= 1;
            let mut expected = next.clone();
            expected.globals[at] ^= 1;
            let mut got = machine.apply(&other, step);
            // Who may go on alone depends on what comes next.
            got.exclusive = expected.exclusive;
            assert!(got == expected, "a read is not recorded");
        }
        state = next;
    }
    80
}

#[test]
fn what_a_step_reads_and_writes_is_recorded() {
    let mut steps = 0;
    for file in own_examples("promela", "pml") {
        let read = mover_promela::parse(&file, &mover_promela::Options::default())
            .unwrap_or_else(|_| panic!("{} is read", file.display()));
        steps += (1..4)
            .map(|seed| try_accesses(&read.program, seed))
            .sum::<usize>();
    }
    #[cfg(feature = "c")]
    for file in own_examples("c", "c") {
        let text = std::fs::read_to_string(&file).expect("a readable example");
        if text.contains("options:") {
            // Not to be read without them.
            continue;
        }
        let read = mover_c::read(std::slice::from_ref(&file), &mover_c::Options::default())
            .unwrap_or_else(|_| panic!("{} is read", file.display()));
        steps += (1..4)
            .map(|seed| try_accesses(&read.program, seed))
            .sum::<usize>();
    }
    assert!(steps > 5000, "only {steps} steps were tried");
}
