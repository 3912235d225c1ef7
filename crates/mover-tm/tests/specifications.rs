//! The specifications against the judge.

use mover_tm::judge;
use mover_tm::layout::{Renaming, renamings};
use mover_tm::monitor::{Specification, specification};
use mover_tm::property::{Safety, Update, is_defined};
use mover_tm::word::{Statement, alphabet, print_word};

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
                assert_eq!(
                    accepted,
                    judged,
                    "{:?} {:?}: {}",
                    self.property,
                    self.update,
                    print_word(word)
                );
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

fn long() -> bool {
    std::env::var_os("MOVER_LONG").is_some()
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
