//! The specifications against the judge.

use mover_tm::antichain::Explored;
use mover_tm::automaton::Automaton;
use mover_tm::conflict_graph;
use mover_tm::judge;
use mover_tm::layout::{Renaming, renamings};
use mover_tm::monitor::{Specification, specification};
use mover_tm::monotonicity;
use mover_tm::property::{Safety, Update, is_defined};
use mover_tm::spec_det::DeterministicSpec;
use mover_tm::spec_nondet::NondeterministicSpec;
use mover_tm::specifications;
use mover_tm::word::{
    Action, Outcome, Statement, Word, alphabet, parse_word, print_word, transactions,
};

mod random;
use random::Random;

fn long() -> bool {
    std::env::var_os("MOVER_LONG").is_some()
}

struct Enumeration<'a> {
    property: Safety,
    update: Update,
    specification: &'a dyn Specification,
    alphabet: Vec<Statement>,
    renamings: Vec<Renaming>,
    accepted: Vec<u64>,
}

impl Enumeration<'_> {
    /// Whether a word is the least of those that differ only in names.
    fn is_least(&self, word: &[Statement]) -> bool {
        self.renamings.iter().all(|renaming| {
            let renamed = word.iter().map(|&s| renaming.statement(s));
            word.iter().copied().le(renamed)
        })
    }

    /// Extends an accepted word in every way: the properties are closed under
    /// prefixes, so a rejected word need not be extended.
    fn extend(&mut self, word: &mut Vec<Statement>, state: &[u8], depth: usize) {
        if depth == 0 {
            return;
        }
        for statement in self.alphabet.clone() {
            word.push(statement);
            if self.is_least(word) {
                let mut next = state.to_vec();
                let accepted = self.specification.step(&mut next, statement);
                let judged = judge::satisfies(word, self.property, self.update);
                let told = || {
                    format!(
                        "{:?} {:?}: {}",
                        self.property,
                        self.update,
                        print_word(word)
                    )
                };
                assert_eq!(accepted, judged, "{}", told());
                if word.len() <= 4 {
                    let acyclic = conflict_graph::is_acyclic(word, self.property, self.update);
                    assert_eq!(acyclic, judged, "{}", told());
                }
                if accepted {
                    self.accepted[word.len() - 1] += 1;
                    self.extend(word, &next, depth - 1);
                }
            }
            word.pop();
        }
    }
}

fn accepted_words(property: Safety, update: Update, length: usize) -> Vec<u64> {
    let specification = specification(property, update, 2, 2).unwrap();
    let mut enumeration = Enumeration {
        property,
        update,
        specification: specification.as_ref(),
        alphabet: alphabet(2, 2),
        renamings: renamings(2, 2),
        accepted: vec![0; length],
    };
    let initial = specification.initial();
    enumeration.extend(&mut Vec::new(), &initial, length);
    enumeration.accepted
}

#[test]
fn every_short_word_is_judged_as_section_2_3_says() {
    let length = if long() { 7 } else { 6 };
    let strict = accepted_words(Safety::StrictSerializability, Update::Deferred, length);
    assert_eq!(strict[..6], [4, 40, 448, 5248, 62457, 747074]);
    let opaque = accepted_words(Safety::Opacity, Update::Deferred, length);
    assert_eq!(opaque[..6], [4, 40, 448, 5246, 62365, 744572]);
}

#[test]
fn every_short_word_is_judged_alike_for_the_further_properties() {
    for property in Safety::ALL {
        for update in [Update::Deferred, Update::Direct] {
            if is_defined(property, update) {
                accepted_words(property, update, 5);
            }
        }
    }
}

/// Random words over three threads and variables, for every property. The judge
/// tries all orders, so words with many transactions are left out.
#[test]
fn random_longer_words_are_judged_alike() {
    let statements = alphabet(3, 3);
    let deterministic = |property| DeterministicSpec::new(property, 3, 3);
    let det_strict = deterministic(Safety::StrictSerializability);
    let det_opaque = deterministic(Safety::Opacity);
    let mut random = Random::new(1);
    let mut judged_words = 0;
    let mut refused = 0;
    while judged_words < 100_000 {
        let length = 8 + random.below(7);
        let word: Vec<Statement> = (0..length)
            .map(|_| {
                let statement = statements[random.below(statements.len())];
                // Fewer ends of transactions make more conflicts.
                if statement.action.is_finishing() && random.below(3) == 0 {
                    statements[random.below(6)]
                } else {
                    statement
                }
            })
            .collect();
        if mover_tm::word::transactions(&word).len() > 7 {
            continue;
        }
        judged_words += 1;
        for property in Safety::ALL {
            let update = match random.below(4) {
                0 if is_defined(property, Update::Direct) => Update::Direct,
                _ => Update::Deferred,
            };
            if property == Safety::SnapshotIsolation && random.below(10) > 0 {
                continue;
            }
            let spec = specification(property, update, 3, 3).unwrap();
            let accepted = spec.accepted_prefix(&word) == word.len();
            let judged = judge::satisfies(&word, property, update);
            assert_eq!(
                accepted,
                judged,
                "{property:?} {update:?}: {}",
                print_word(&word)
            );
            refused += usize::from(!judged);
            if update == Update::Deferred {
                let deterministic = match property {
                    Safety::StrictSerializability => &det_strict,
                    Safety::Opacity => &det_opaque,
                    _ => continue,
                };
                let accepted = deterministic.accepted_prefix(&word) == word.len();
                assert_eq!(accepted, judged, "Algorithm 6: {}", print_word(&word));
            }
        }
    }
    assert!(refused > 10_000, "only {refused} words were refused");
}

/// Words on which the printed specifications err; by Section 2.3 as given here.
#[test]
fn the_words_that_the_printed_specifications_misjudge() {
    let judged = |text: &str, property: Safety| {
        let word = parse_word(text).unwrap();
        let by_judge = judge::satisfies(&word, property, Update::Deferred);
        let spec = specification(property, Update::Deferred, 3, 2).unwrap();
        assert_eq!(
            spec.accepted_prefix(&word) == word.len(),
            by_judge,
            "{text}"
        );
        let deterministic = DeterministicSpec::new(property, 3, 2);
        assert_eq!(
            deterministic.accepted_prefix(&word) == word.len(),
            by_judge,
            "{text}"
        );
        by_judge
    };
    let strict = Safety::StrictSerializability;
    let opaque = Safety::Opacity;
    assert!(!judged(
        "(r,1)_1 (w,1)_2 c_2 (r,2)_2 (w,1)_1 c_2 c_1",
        strict
    ));
    assert!(!judged(
        "(r,1)_1 (w,1)_1 (w,1)_2 c_2 (w,2)_2 c_2 (r,2)_1",
        opaque
    ));
    assert!(judged("(r,1)_1 (w,1)_2 c_2 (r,1)_2 (w,2)_1 c_1", opaque));
    assert!(!judged(
        "(r,1)_1 (r,2)_3 (w,1)_2 c_2 (r,1)_3 a_3 (w,2)_1 c_1",
        opaque
    ));
    assert!(!judged(
        "(w,2)_3 (r,1)_1 (w,1)_2 c_2 (r,2)_2 c_3 a_2 (r,2)_1",
        opaque
    ));
    assert!(!judged(
        "(r,1)_1 (w,1)_2 (w,2)_3 c_2 (r,2)_2 a_2 c_3 (r,2)_1",
        opaque
    ));
    assert!(!judged(
        "(r,1)_1 (w,2)_1 (w,1)_2 (r,2)_2 c_1 (r,2)_2",
        opaque
    ));
    assert!(!judged("(r,1)_1 (w,2)_1 (w,1)_2 c_2 (r,2)_2 c_1", opaque));
}

/// The least automaton depends on the language alone.
#[test]
fn the_least_automata_have_the_known_sizes() {
    let least = |property, threads, variables| {
        let spec = specification(property, Update::Deferred, threads, variables).unwrap();
        Automaton::of_specification(spec.as_ref(), 100_000)
            .unwrap()
            .minimized()
            .len()
    };
    assert_eq!(least(Safety::StrictSerializability, 2, 1), 32);
    assert_eq!(least(Safety::Opacity, 2, 1), 32);
    assert_eq!(least(Safety::StrictSerializability, 2, 2), 512);
    assert_eq!(least(Safety::Opacity, 2, 2), 576);
    assert_eq!(least(Safety::StrictSerializability, 3, 1), 208);
    assert_eq!(least(Safety::Opacity, 3, 1), 208);
}

#[test]
fn the_three_specifications_are_equivalent() {
    for (threads, variables) in [(2, 1), (2, 2), (3, 1)] {
        for row in specifications::compare(threads, variables) {
            assert!(row.compared);
            assert_eq!(row.differs, None, "{:?}", row.property);
            if (threads, variables) == (2, 2) {
                let sizes = (row.deterministic, row.nondeterministic);
                match row.property {
                    Safety::Opacity => assert_eq!(sizes, (Some(2272), Some(8746))),
                    _ => assert_eq!(sizes, (Some(3520), Some(12346))),
                }
            }
        }
    }
}

/// The antichain search finds a difference where there is one.
#[test]
fn a_specification_for_another_property_is_told_apart() {
    let spec = specification(Safety::StrictSerializability, Update::Deferred, 2, 2).unwrap();
    let strict = Automaton::of_specification(spec.as_ref(), 100_000).unwrap();
    let opacity = NondeterministicSpec::new(Safety::Opacity, 2);
    let opacity = Explored::new(&opacity, (2, 2), 100_000).unwrap();
    assert_eq!(opacity.word_not_in(&strict), None);
    let word = opacity.word_missing_from(&strict).unwrap();
    assert!(judge::satisfies(
        &word,
        Safety::StrictSerializability,
        Update::Deferred
    ));
    assert!(!judge::satisfies(&word, Safety::Opacity, Update::Deferred));
}

/// What carries P4 through the proof of Theorem 1: every more sequential form of a word that its
/// last statement makes wrong is wrong as well. And a right word has a right form.
#[test]
fn forms_of_wrong_words_are_wrong() {
    let mut random = Random::new(4);
    for property in [Safety::StrictSerializability, Safety::Opacity] {
        for (threads, variables) in [(2, 2), (3, 1), (3, 2)] {
            let spec = specification(property, Update::Deferred, threads, variables).unwrap();
            let right = Automaton::of_specification(spec.as_ref(), 1_000_000).unwrap();
            let statements = alphabet(threads, variables);
            let (mut wrong, mut tried) = (0, 0);
            while wrong < 300 || tried < 3000 {
                let word = word_until_wrong(&mut random, property, &statements, 12);
                let Some((last, before)) = word.split_last() else {
                    continue;
                };
                let unfinished: Vec<u8> = transactions(before)
                    .iter()
                    .filter(|x| x.outcome == Outcome::Unfinished)
                    .map(|x| x.thread)
                    .collect();
                // For strict serializability, only a commit makes a word wrong.
                let applies = unfinished.contains(&last.thread)
                    && match property {
                        Safety::Opacity => true,
                        _ => last.action == Action::Commit && unfinished.len() == 1,
                    };
                if !applies {
                    continue;
                }
                tried += 1;
                let is_right = judge::satisfies(&word, property, Update::Deferred);
                wrong += usize::from(!is_right);
                assert_eq!(
                    monotonicity::has_form(&right, property, &word),
                    is_right,
                    "{property:?}: {}",
                    print_word(&word)
                );
            }
        }
    }
}

/// Ends with the first statement that makes the word wrong, or at a length of at most `most`.
fn word_until_wrong(
    random: &mut Random,
    property: Safety,
    statements: &[Statement],
    most: usize,
) -> Word {
    let length = 2 + random.below(most - 1);
    let mut word = Word::new();
    while word.len() < length {
        let statement = statements[random.below(statements.len())];
        // The condition for strict serializability speaks of words without aborts.
        if property != Safety::Opacity && statement.action == Action::Abort {
            continue;
        }
        word.push(statement);
        if !judge::satisfies(&word, property, Update::Deferred) {
            break;
        }
    }
    word
}
