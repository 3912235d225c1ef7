//! The abstraction of clocks against clocks that are put down as they are.
//!
//! All words up to a length are enumerated by following all states that a word
//! can lead to, once with settled times and once with the times as they are.
//! In a word so short a clock cannot outgrow a byte, so the second is the
//! algorithm itself. Both must have the same words.

use std::collections::BTreeSet;

use mover_source::SourceMap;
use mover_tm::algorithm::{Algorithm, Manager, Successors};
use mover_tm::language::load;
use mover_tm::language::program::{Program, Type};
use mover_tm::word::{Statement, Word, print_word};

fn program(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    load(&sources, file).unwrap_or_else(|errors| panic!("{name}: {errors:?}"))
}

type States = BTreeSet<Vec<u8>>;

/// All states that silent steps lead to.
fn closure(algorithm: &Algorithm<'_>, states: States) -> States {
    let mut todo: Vec<Vec<u8>> = states.iter().cloned().collect();
    let mut all = states;
    let mut successors = Successors::default();
    while let Some(state) = todo.pop() {
        algorithm.successors(&state, &mut successors).unwrap();
        for (transition, target) in successors.iter(algorithm.layout.size()) {
            if transition.statement.is_none() && all.insert(target.to_vec()) {
                todo.push(target.to_vec());
            }
        }
    }
    all
}

fn after(algorithm: &Algorithm<'_>, states: &States) -> Vec<(Statement, States)> {
    let mut found: std::collections::BTreeMap<Statement, States> = Default::default();
    let mut successors = Successors::default();
    for state in states {
        algorithm.successors(state, &mut successors).unwrap();
        for (transition, target) in successors.iter(algorithm.layout.size()) {
            if let Some(statement) = transition.statement {
                found.entry(statement).or_default().insert(target.to_vec());
            }
        }
    }
    found
        .into_iter()
        .map(|(statement, states)| (statement, closure(algorithm, states)))
        .collect()
}

/// Compares all words that begin like this; says how many there were, or the
/// first that only one side has.
fn compare(
    (settled, concrete): (&Algorithm<'_>, &Algorithm<'_>),
    (here, there): (&States, &States),
    word: &mut Word,
    length: usize,
) -> Result<usize, String> {
    if length == 0 {
        return Ok(1);
    }
    let (here, there) = (after(settled, here), after(concrete, there));
    let statements = |side: &[(Statement, States)]| -> Vec<Statement> {
        side.iter().map(|(statement, _)| *statement).collect()
    };
    if statements(&here) != statements(&there) {
        return Err(print_word(word));
    }
    let mut words = 1;
    for ((statement, here), (_, there)) in here.iter().zip(&there) {
        word.push(*statement);
        words += compare((settled, concrete), (here, there), word, length - 1)?;
        word.pop();
    }
    Ok(words)
}

fn agree(program: &Program, size: (usize, usize), length: usize) -> Result<usize, String> {
    let new = || Algorithm::new(program, size.0, size.1, Manager::Any);
    let (settled, concrete) = (new(), new().with_concrete_times());
    let start =
        |algorithm: &Algorithm<'_>| closure(algorithm, [algorithm.initial()].into_iter().collect());
    let starts = (&start(&settled), &start(&concrete));
    compare((&settled, &concrete), starts, &mut Vec::new(), length)
}

#[test]
fn examples_with_clocks_have_the_same_words() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tm");
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let program = program(&name, &std::fs::read_to_string(&path).unwrap());
        if !program.fields.iter().any(|field| field.ty == Type::Time) {
            continue;
        }
        seen += 1;
        for (size, length) in [((2, 1), 6), ((2, 2), 4), ((3, 1), 4)] {
            let words =
                agree(&program, size, length).unwrap_or_else(|word| panic!("{name}: {word}"));
            assert!(words > 100, "{name}: {words}");
        }
    }
    assert!(seen >= 6, "{seen}");
}

/// Here the distance between two times decides, so that an abstraction that
/// keeps only the order has other words.
const DISTANCE: &str = "
algorithm distance;
global { clock: time; }
thread { start: time; }
on begin { do begin { start(t) := clock; } }
on read(v) { do read; }
on write(v) { do write; }
on commit {
  do commit when clock = start(t) {
    clock += 1;
    start(t) := 0;
  }
  do commit when clock = start(t) + 1 { start(t) := 0; }
}
on abort { start(t) := 0; }
";

#[test]
fn a_distance_that_is_asked_for_is_kept() {
    let mut program = program("distance", DISTANCE);
    assert!(program.asks_distance);
    assert!(agree(&program, (3, 1), 7).is_ok());
    program.asks_distance = false;
    assert!(agree(&program, (3, 1), 7).is_err());
}

#[test]
fn a_time_that_is_not_the_latest_cannot_be_advanced() {
    let text = DISTANCE.replace(
        "clock = start(t) + 1 {",
        "clock != start(t) { start(t) += 1;",
    );
    let program = program("stray", &text);
    let algorithm = Algorithm::new(&program, 2, 1, Manager::Any);
    let mut states = vec![algorithm.initial()];
    let mut known: States = states.iter().cloned().collect();
    let mut successors = Successors::default();
    while let Some(state) = states.pop() {
        if let Err(error) = algorithm.successors(&state, &mut successors) {
            assert!(
                error.message.contains("not the latest"),
                "{}",
                error.message
            );
            return;
        }
        for (_, target) in successors.iter(algorithm.layout.size()) {
            if known.insert(target.to_vec()) {
                states.push(target.to_vec());
            }
        }
    }
    panic!("no error was found");
}
