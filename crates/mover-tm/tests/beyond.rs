//! Algorithms with commands beyond the paper's: what the language accepts, and the verdicts of
//! whole checks against all short words of an algorithm, judged by the definition.

use std::collections::{BTreeMap, BTreeSet};

use mover_source::SourceMap;
use mover_tm::algorithm::{Algorithm, Manager, Successors};
use mover_tm::check::{Failure, Options, Progress, Verdict, check, check_telling};
use mover_tm::judge::satisfies;
use mover_tm::language::load;
use mover_tm::language::program::Program;
use mover_tm::property::{Property, Safety, Update};
use mover_tm::word::{Action, Extra, Statement, Word, print_word};

fn parse(text: &str) -> Result<Program, String> {
    let mut sources = SourceMap::default();
    let file = sources.add("test.tm", text);
    load(&sources, file).map_err(|errors| {
        let messages: Vec<String> = errors.into_iter().map(|error| error.message).collect();
        messages.join("; ")
    })
}

fn example(name: &str) -> Program {
    let path = format!("{}/../../examples/tm/{name}.tm", env!("CARGO_MANIFEST_DIR"));
    parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

type States = BTreeSet<Vec<u8>>;

fn closure(algorithm: &Algorithm<'_>, mut all: States) -> States {
    let mut todo: Vec<Vec<u8>> = all.iter().cloned().collect();
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

/// Visits all words up to a length whose prefixes pass the test.
fn each_word(
    algorithm: &Algorithm<'_>,
    states: &States,
    word: &mut Word,
    length: usize,
    visit: &mut dyn FnMut(&Word) -> bool,
) {
    if word.len() == length {
        return;
    }
    let mut found: BTreeMap<Statement, States> = BTreeMap::new();
    let mut successors = Successors::default();
    for state in states {
        algorithm.successors(state, &mut successors).unwrap();
        for (transition, target) in successors.iter(algorithm.layout.size()) {
            if let Some(statement) = transition.statement {
                found.entry(statement).or_default().insert(target.to_vec());
            }
        }
    }
    for (statement, targets) in found {
        word.push(statement);
        if visit(word) {
            let states = closure(algorithm, targets);
            each_word(algorithm, &states, word, length, visit);
        }
        word.pop();
    }
}

/// The length of a shortest word that violates a property, if there is one up to a length.
fn shortest_wrong(
    program: &Program,
    property: Safety,
    size: (usize, usize),
    length: usize,
) -> Option<usize> {
    let algorithm = Algorithm::new(program, size.0, size.1, Manager::Any);
    let start = closure(&algorithm, [algorithm.initial()].into_iter().collect());
    (1..=length).find(|&length| {
        let mut wrong = false;
        each_word(&algorithm, &start, &mut Vec::new(), length, &mut |word| {
            let fine = satisfies(word, property, Update::Deferred);
            wrong |= !fine;
            fine && !wrong
        });
        wrong
    })
}

#[test]
fn verdicts_agree_with_all_short_words() {
    let mut violated = 0;
    for name in [
        "mvcc",
        "mvcc-serializable",
        "lsa-versions",
        "or-else",
        "or-else-forgetful",
        "weak-isolation",
        "strong-isolation",
    ] {
        let program = example(name);
        for property in [Safety::Opacity, Safety::StrictSerializability] {
            // What forgets a nested read is wrong after six statements.
            let long = if name == "or-else-forgetful" { 6 } else { 5 };
            for (size, length) in [((2, 1), long), ((2, 2), 4)] {
                let options = Options {
                    threads: Some(size.0),
                    variables: Some(size.1),
                    widen_scope: false,
                    ..Options::default()
                };
                let report = check(&program, Property::Safety(property), &options).unwrap();
                let found = shortest_wrong(&program, property, size, length);
                let expected = report
                    .word
                    .map(|word| word.len())
                    .filter(|&at| at <= length);
                assert_eq!(found, expected, "{name} {property:?} {size:?}");
                violated += usize::from(found.is_some());
            }
        }
    }
    assert!(violated >= 4, "{violated}");
}

const BASE: &str = "
on read(v) { do read; }
on write(v) { do write; }
on commit { do commit; }
on abort { }
";

#[test]
fn the_language_refuses_what_has_no_meaning() {
    for (items, reason) in [
        (
            "on begin_read_only { do begin_read_only; }",
            "needs `on begin`",
        ),
        ("on nest { do nest; }", "needs `on merge`"),
        (
            "update direct; on begin { do begin; }",
            "deferred update only",
        ),
        ("on begin(v) { do begin; }", "names no variable"),
        ("on plain_read { do plain_read; }", "names its variable"),
        ("on start { do start; }", "`begin`"),
        ("global { c: time = 1; }", "expected a time"),
        (
            "global { c, d: time; } require c = d + 2;",
            "does not apply",
        ),
        (
            "global { c, d: time; } require c - 1 = d;",
            "does not apply",
        ),
        (
            "global { c: time; n: 0..3; } require c < n;",
            "does not apply",
        ),
        ("global { c: time; } require c = 1;", "does not apply"),
        (
            "global { c: time; } procedure p() { c += 2; }",
            "advances by 1",
        ),
        ("global { c: time; } procedure p() { c -= 1; }", "a time"),
        (
            "global { c: time; } procedure p() { c := min(c, c + 1); }",
            "two of a kind",
        ),
    ] {
        let error = parse(&format!("algorithm a; {items} {BASE}")).unwrap_err();
        assert!(error.contains(reason), "{items}: {error}");
    }
}

#[test]
fn an_access_outside_of_transactions_cannot_abort() {
    let text = format!(
        "algorithm a; global {{ busy: bool; }} on plain_read(v) {{ do plain_read when busy; }} {BASE}"
    );
    let program = parse(&text).unwrap();
    let error = check(
        &program,
        Property::Safety(Safety::Opacity),
        &Options::default(),
    );
    match error {
        Err(Failure::Input(error)) => assert!(error.message.contains("cannot abort")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn programs_do_what_is_declared_and_no_more() {
    let words = |program: &Program, length: usize| {
        let algorithm = Algorithm::new(program, 1, 1, Manager::Any);
        let start = closure(&algorithm, [algorithm.initial()].into_iter().collect());
        let mut words = BTreeSet::new();
        each_word(&algorithm, &start, &mut Vec::new(), length, &mut |word| {
            words.insert(print_word(word));
            true
        });
        words
    };
    let all = "algorithm a;
        on begin { do begin; }
        on begin_read_only { do begin_read_only; }
        on plain_write(v) { do plain_write; }
        on nest { do nest; } on merge { do merge; } on undo { do undo; }
        on retry { do retry; }"
        .to_string()
        + BASE;
    let found = words(&parse(&all).unwrap(), 3);
    for expected in [
        "b_1 (w,1)_1 c_1",
        "br_1 (r,1)_1 c_1",
        "br_1 a_1 (W,1)_1",
        "b_1 n_1 (w,1)_1",
        "b_1 n_1 u_1",
        "b_1 n_1 m_1",
    ] {
        assert!(found.contains(expected), "{expected}");
    }
    for wrong in [
        "(r,1)_1",
        "b_1 b_1",
        "br_1 (w,1)_1",
        "b_1 (W,1)_1",
        "b_1 m_1",
        "b_1 n_1 c_1",
        "b_1 n_1 n_1",
        "b_1 n_1 a_1",
    ] {
        assert!(!found.contains(wrong), "{wrong}");
    }
    // Undeclared commands do not exist.
    let plain = words(&parse(&format!("algorithm a; {BASE}")).unwrap(), 2);
    assert!(plain.contains("(r,1)_1 c_1"));
    assert!(
        plain
            .iter()
            .all(|word| !word.contains(['b', 'n', 'R', 'W', 'a']))
    );
}

#[test]
fn weak_isolation_leaves_plain_accesses_out() {
    let program = example("weak-isolation");
    let ask = |weak_isolation| {
        let options = Options {
            weak_isolation,
            ..Options::default()
        };
        check(&program, Property::Safety(Safety::Opacity), &options).unwrap()
    };
    let (weak, strong) = (ask(true), ask(false));
    assert_eq!(weak.verdict, Verdict::Holds);
    assert_eq!(strong.verdict, Verdict::Violated);
    let is_plain = |s: &Statement| {
        matches!(
            s.action,
            Action::Extra(Extra::PlainRead(_) | Extra::PlainWrite(_))
        )
    };
    assert!(strong.word.unwrap().iter().any(is_plain));
    // Every step of the run is needed: here each adds a statement.
    assert!(!strong.run.iter().any(|step| step.contains("wait")));
}

#[test]
fn a_check_tells_what_it_knows_before_larger_sizes() {
    let program = example("mvcc");
    let mut sizes = Vec::new();
    let mut settled = Vec::new();
    let property = Property::Safety(Safety::SnapshotIsolation);
    check_telling(
        &program,
        property,
        &Options::default(),
        &mut |told| match told {
            Progress::Searching(threads, variables) => sizes.push((threads, variables)),
            Progress::Settled(report) => settled.push(report),
        },
    )
    .unwrap();
    assert_eq!(sizes, [(2, 2), (2, 3), (3, 2)]);
    assert!(
        settled
            .iter()
            .all(|report| report.verdict == Verdict::Holds)
    );
    let last = settled.last().unwrap();
    assert!(
        last.scope.contains("no reduction theorem"),
        "{}",
        last.scope
    );
}
