//! Words with extra statements: the monitor against the definition.
//!
//! The judge is the definition of Section 2.3 on the translated word; the
//! conflict graph is a second opinion. Without extra statements the extended
//! monitor must also agree with the one that the paper's words are checked by.

mod random;

use mover_tm::conflict_graph::is_acyclic;
use mover_tm::extended::refuse_malformed;
use mover_tm::judge::satisfies;
use mover_tm::monitor::{Specification, extended_specification, specification};
use mover_tm::property::{Safety, Update};
use mover_tm::word::{Action, Extra, Statement, Word, alphabet, parse_word, print_word};

fn extended_alphabet(threads: u8, variables: usize) -> Vec<Statement> {
    let mut statements = alphabet(threads as usize, variables);
    for thread in 0..threads {
        for extra in Extra::all(variables) {
            if !matches!(extra, Extra::Retry | Extra::BeginReadOnly) {
                statements.push(Statement::new(Action::Extra(extra), thread));
            }
        }
    }
    statements
}

fn compare(word: &Word, property: Safety, monitor: bool) -> bool {
    let expected = satisfies(word, property, Update::Deferred);
    let text = print_word(word);
    assert_eq!(monitor, expected, "{property:?}: {text}");
    let graph = is_acyclic(word, property, Update::Deferred);
    assert_eq!(graph, expected, "the graph, {property:?}: {text}");
    expected
}

fn extend(
    word: &mut Word,
    state: &[u8],
    monitor: &dyn Specification,
    property: Safety,
    statements: &[Statement],
    length: usize,
) -> usize {
    let mut seen = 0;
    for &statement in statements {
        word.push(statement);
        if refuse_malformed(word).is_ok() {
            let mut next = state.to_vec();
            let accepted = monitor.step(&mut next, statement);
            seen += 1;
            if compare(word, property, accepted) && word.len() < length {
                seen += extend(word, &next, monitor, property, statements, length);
            }
        }
        word.pop();
    }
    seen
}

#[test]
fn all_short_words_are_judged_by_the_definition() {
    let statements = extended_alphabet(2, 1);
    for property in Safety::ALL {
        let monitor = extended_specification(property, 2, 1).unwrap();
        let seen = extend(
            &mut Vec::new(),
            &monitor.initial(),
            monitor.as_ref(),
            property,
            &statements,
            4,
        );
        assert!(seen > 50_000, "{seen}");
    }
}

/// A well-formed word of statements chosen at random.
fn random_word(random: &mut random::Random, statements: &[Statement], length: usize) -> Word {
    let mut word = Vec::new();
    for _ in 0..8 * length {
        let statement = statements[random.below(statements.len())];
        // Aborted transactions are seldom wrong.
        if statement.action == Action::Abort && random.below(4) != 0 {
            continue;
        }
        word.push(statement);
        if refuse_malformed(&word).is_err() {
            word.pop();
        }
        if word.len() == length {
            break;
        }
    }
    word
}

/// Of a word that is wrong, the part before the wrong statement must be right.
#[test]
fn random_words_are_judged_by_the_definition() {
    let all = extended_alphabet(3, 2);
    // Cycles through old versions need several transactions, so a second kind of words has only
    // what these are made of.
    let versions: Vec<Statement> = (all.iter().copied())
        .filter(|s| {
            let extra = matches!(s.action, Action::Extra(Extra::Begin | Extra::OldRead(_)));
            extra || !matches!(s.action, Action::Extra(_) | Action::Abort)
        })
        .collect();
    let mut random = random::Random::new(30);
    for property in Safety::ALL {
        let monitor = extended_specification(property, 3, 2).unwrap();
        for (statements, count, length) in [(&all, 3_000, 12), (&versions, 30_000, 15)] {
            let (mut right, mut wrong) = (0, 0);
            for _ in 0..count {
                let word = random_word(&mut random, statements, length);
                let accepted = monitor.accepted_prefix(&word);
                compare(&word[..accepted].to_vec(), property, true);
                if accepted < word.len() {
                    compare(&word[..=accepted].to_vec(), property, false);
                    wrong += 1;
                } else {
                    right += 1;
                }
            }
            assert!(right > 100 && wrong > 50, "{property:?}: {right} {wrong}");
        }
    }
}

#[test]
fn on_the_papers_words_both_monitors_agree() {
    let statements = alphabet(3, 2);
    let mut random = random::Random::new(31);
    for property in Safety::ALL {
        let one = specification(property, Update::Deferred, 3, 2).unwrap();
        let other = extended_specification(property, 3, 2).unwrap();
        for _ in 0..10_000 {
            let word: Word = (0..16)
                .map(|_| statements[random.below(statements.len())])
                .collect();
            assert_eq!(
                one.accepted_prefix(&word),
                other.accepted_prefix(&word),
                "{property:?}: {}",
                print_word(&word)
            );
        }
    }
}

/// What the literature says about small cases.
#[test]
fn textbook_cases() {
    let cases = [
        // A reader of a multi-version store is serialized at its snapshot.
        (
            "b_1 (w,1)_2 (w,2)_2 c_2 (o,1)_1 (o,2)_1 c_1",
            Safety::Opacity,
            true,
        ),
        // The same with current values sees half of the writer's work.
        (
            "b_1 (o,1)_1 (w,1)_2 (w,2)_2 c_2 (r,2)_1",
            Safety::Opacity,
            false,
        ),
        // Write skew: snapshot isolated, not serializable.
        (
            "b_1 b_2 (o,1)_1 (o,2)_2 (w,2)_1 (w,1)_2 c_1 c_2",
            Safety::SnapshotIsolation,
            true,
        ),
        (
            "b_1 b_2 (o,1)_1 (o,2)_2 (w,2)_1 (w,1)_2 c_1 c_2",
            Safety::Serializability,
            false,
        ),
        // Lost update.
        (
            "b_1 b_2 (o,1)_1 (o,1)_2 (w,1)_1 (w,1)_2 c_1 c_2",
            Safety::SnapshotIsolation,
            false,
        ),
        // Without its begin the reader would come too late for its snapshot.
        (
            "b_1 (w,1)_2 c_2 (o,1)_1 c_1",
            Safety::StrictSerializability,
            true,
        ),
        (
            "(w,1)_2 c_2 b_1 s_1 (o,1)_1 c_1",
            Safety::StrictSerializability,
            true,
        ),
        // A plain write between two reads of a transaction.
        ("(r,1)_1 (W,1)_2 (r,1)_1", Safety::Opacity, false),
        (
            "(r,1)_1 (W,1)_2 (r,1)_1 a_1",
            Safety::StrictSerializability,
            true,
        ),
        // What was undone conflicts with nothing; what was read in it does.
        (
            "(r,1)_2 n_1 (w,1)_1 u_1 c_1 (r,1)_2 c_2",
            Safety::Opacity,
            true,
        ),
        (
            "n_1 (r,1)_1 u_1 (w,1)_2 c_2 (r,1)_1",
            Safety::Opacity,
            false,
        ),
        // A cycle of three: the second is before the third, that before the first, that before
        // the second.
        (
            "(r,1)_2 (w,1)_3 c_3 b_1 (o,1)_1 (w,2)_1 c_1 (r,2)_2",
            Safety::Opacity,
            false,
        ),
        // No serial execution returns an old version after an own write.
        ("b_1 (w,1)_1 (o,1)_1", Safety::Opacity, false),
    ];
    for (text, property, expected) in cases {
        let word = parse_word(text).unwrap();
        let monitor = extended_specification(property, 3, 2).unwrap();
        let accepted = monitor.accepted_prefix(&word) == word.len();
        assert_eq!(compare(&word, property, accepted), expected, "{text}");
    }
}
