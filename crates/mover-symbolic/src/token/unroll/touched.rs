//! The accesses of an event.
//!
//! They are determined on the terms: an event reads a cell if the copy it received occurs in a
//! guard or in a value that it passes on, and writes a cell if the cell is another term
//! afterwards. So indices and pointers that are constant in this unrolling distinguish cells.

use std::collections::{BTreeMap, BTreeSet};

use super::{Option_, Unrolling};
use crate::term::{Node as TermNode, Term, Terms};

/// Places among the shared cells with the values that may be written, if they are known.
pub type Writes = BTreeMap<usize, Option<BTreeSet<u64>>>;

/// Adds what one may write to what another may.
fn add_writes(to: &mut Writes, writes: &Writes) {
    for (&position, values) in writes {
        let known = to.entry(position).or_insert(Some(BTreeSet::new()));
        *known = known.take().zip(values.clone()).map(|(mut known, values)| {
            known.extend(values);
            known
        });
    }
}

impl Unrolling<'_, '_> {
    /// What the steps of a node read and write of the shared cells.
    pub(super) fn note_accesses(&mut self, node: usize, options: &[Option_], guards: &[Term]) {
        let sources = self.thread.nodes[node].sources.clone();
        let before = &self.thread.nodes[node].state;
        let mut roots: Vec<Term> = guards.to_vec();
        let mut writes = Writes::new();
        for option in options {
            roots.push(option.enabled);
            for (&old, &new) in before.iter().zip(&option.state) {
                if old != new {
                    roots.push(new);
                }
            }
            for (position, &cell) in self.of.shared.iter().enumerate() {
                if before[cell] != option.state[cell] {
                    let values = written(self.terms, option.state[cell], before[cell]);
                    add_writes(&mut writes, &Writes::from([(position, values)]));
                }
            }
        }
        if self.thread.nodes[node].is_outside {
            add_writes(&mut self.thread.early, &writes);
        }
        let oldest = sources.first().map(|&oldest| &self.thread.nodes[oldest]);
        let Some(&mark) = oldest.and_then(|oldest| oldest.received.first()) else {
            return;
        };
        // Terms that are older than the copies cannot depend on them.
        let mut seen = BTreeSet::new();
        let mut variables = BTreeSet::new();
        while let Some(term) = roots.pop() {
            if term < mark || !seen.insert(term) {
                continue;
            }
            if let TermNode::Var(_) = self.terms.node(term) {
                variables.insert(term);
            }
            self.terms.children(term, |child| roots.push(child));
        }
        for source in sources {
            let event = &mut self.thread.nodes[source];
            let received = event.received.iter().enumerate();
            event.reads.extend(
                received
                    .filter(|(_, term)| variables.contains(term))
                    .map(|(position, _)| position),
            );
            add_writes(&mut event.writes, &writes);
        }
    }
}

/// The constants that a choice between constants and the old value can be.
fn written(terms: &Terms, new: Term, old: Term) -> Option<BTreeSet<u64>> {
    let mut values = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![new];
    while let Some(term) = work.pop() {
        if term == old || !seen.insert(term) {
            continue;
        }
        match terms.node(term) {
            TermNode::Const(value) => {
                values.insert(value);
            }
            TermNode::Ite(_, then, otherwise) => work.extend([then, otherwise]),
            _ => return None,
        }
    }
    Some(values)
}
