//! Peephole partial-order constraints: the encoding to which Ganai and Kundu (2009) compare
//! theirs.
//!
//! After Wang, Yang, Kahlon and Gupta (2008), *Peephole Partial Order Reduction*. There is a
//! scheduler, and it may choose any thread; but where a thread moves and then one with a
//! smaller number, the two moves must be dependent. A run in which they are not is excluded,
//! because the two can be swapped: sorting a run by swapping such neighbours terminates, and
//! preserves its length and its last state. So no violation is lost, and if no run of so many
//! moves remains, there is none at all. For two threads one run of each class remains; for more
//! it is an approximation.
//!
//! Here a move is a block without reduction: one step, or an atomic sequence. Two moves are
//! dependent if one may write what the other accesses; the set of accessed objects of a move is
//! a term, so the constraint grows with the number of objects and not with pairs of edges.
//! Neighbours are not swapped
//!
//! - if one starts a thread or exits (thread numbers and the set of threads depend on it), or
//! - if the first continues with an atomic sequence, or the second stops in one that is to be
//!   continued, because no other thread could move there.
//!
//! An atomic sequence that blocks after its first step has observed that it is blocked, so it
//! accesses what the steps from there access. Rendezvous, `timeout` and priorities depend on
//! all threads; programs that use them are checked without constraints.

use std::collections::BTreeMap;

use mover_engine::EngineError;
use mover_ir::program::{Effect, Program};
use mover_reduce::facts::access::{AccessTable, EdgeRef, Object};

use crate::blocks::Block;
use crate::layout::{Layout, Turn};
use crate::term::{Term, Terms};

pub struct Peephole<'p> {
    program: &'p Program,
    table: AccessTable,
}

/// What a block accesses, and who does it.
pub struct Move {
    who: Term,
    /// Whether all threads are external before it, and after it.
    begins_free: Term,
    ends_free: Term,
    /// Whether threads come or go.
    is_special: Term,
    reads: BTreeMap<Object, Term>,
    writes: BTreeMap<Object, Term>,
}

impl<'p> Peephole<'p> {
    /// The constraints for a program, or why there are none.
    pub fn new(program: &'p Program) -> Result<Self, EngineError> {
        let reason = if program.has_rendezvous() {
            Some("rendezvous")
        } else if program.uses_priorities() {
            Some("priorities")
        } else if program.uses_timeout() {
            Some("`timeout`")
        } else {
            None
        };
        match reason {
            Some(what) => Err(EngineError::Unsupported(format!(
                "peephole constraints do not support {what}"
            ))),
            None => Ok(Peephole {
                program,
                table: AccessTable::new(program),
            }),
        }
    }

    /// What a block from a state accesses.
    pub fn touched(
        &self,
        terms: &mut Terms,
        layout: &Layout,
        state: &[Term],
        block: &Block,
    ) -> Move {
        let mut reads: BTreeMap<Object, Vec<Term>> = BTreeMap::new();
        let mut writes: BTreeMap<Object, Vec<Term>> = BTreeMap::new();
        let mut special = Vec::new();
        for step in &block.steps {
            let at = step.edge();
            let edge = at.of(self.program);
            if edge.effects.iter().any(comes_or_goes) {
                special.push(step.condition);
            }
            let target = edge.target.index();
            let location = &self.program.templates[at.template].locations[target];
            let seen = (0..location.edges.len()).filter(|_| location.atomic);
            let seen = seen.map(|edge| EdgeRef {
                template: at.template,
                location: target,
                edge,
            });
            for edge in std::iter::once(at).chain(seen) {
                for (&object, &is_written) in self.table.of(edge) {
                    let touched = if is_written { &mut writes } else { &mut reads };
                    touched.entry(object).or_default().push(step.condition);
                }
            }
        }
        let mut all = |of: BTreeMap<Object, Vec<Term>>| {
            of.into_iter()
                .map(|(object, conditions)| (object, terms.any(conditions)))
                .collect()
        };
        let (reads, writes) = (all(reads), all(writes));
        let is_special = terms.any(special);
        let anyone = layout.turn_value(Turn::Anyone);
        let begins_free = terms.equals(state[layout.turn], anyone);
        let ends_free = terms.equals(block.next[layout.turn], anyone);
        Move {
            who: block.who,
            begins_free,
            ends_free,
            is_special,
            reads,
            writes,
        }
    }
}

impl Move {
    /// That two neighbours are in order, or depend on each other.
    pub fn fits(&self, terms: &mut Terms, next: &Move) -> Term {
        let mut reasons = vec![
            self.is_special,
            next.is_special,
            terms.not(self.begins_free),
            terms.not(next.ends_free),
        ];
        let pairs = [
            (&self.writes, &next.writes),
            (&self.writes, &next.reads),
            (&self.reads, &next.writes),
        ];
        for (mine, theirs) in pairs {
            for (object, &here) in mine {
                if let Some(&there) = theirs.get(object) {
                    reasons.push(terms.and(here, there));
                }
            }
        }
        let inverted = terms.ult(next.who, self.who);
        reasons.push(terms.not(inverted));
        terms.any(reasons)
    }
}

fn comes_or_goes(effect: &Effect) -> bool {
    matches!(effect, Effect::Spawn { .. } | Effect::Exit)
}
