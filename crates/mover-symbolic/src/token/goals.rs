//! The queries about the runs that the formula describes.
//!
//! Errors are steps that are taken. Deadlocks, and whether a thread stopped where it could have
//! continued, are queries about the end of the run: the location of each thread, and the shared
//! cells as the last holder of the token left them.

use std::collections::BTreeSet;

use mover_ir::program::BoundMet;

use crate::blast::Blaster;
use crate::machine::{Readiness, View};
use crate::term::{Term, Terms};
use crate::token::unroll::{Cut, Node, Standing, Unrolled, Unroller, cut_at};

/// What can be asked about the runs of an unrolling, however they are encoded.
pub struct Goals<'g, 'p> {
    pub unroller: &'g Unroller<'p>,
    pub unrolled: &'g Unrolled,
    /// The shared cells when all is over.
    pub values: Vec<Term>,
}

impl Goals<'_, '_> {
    /// The condition that a thread reaches an error, and none a bound.
    pub fn error(&self, terms: &mut Terms) -> Term {
        let error = self.some_error(terms);
        let bound = self.some_bound(terms, |_| true);
        let no_bound = terms.not(bound);
        let is_run = self.is_run(terms);
        terms.all([error, no_bound, is_run])
    }

    fn some_error(&self, terms: &mut Terms) -> Term {
        let errors = self.unrolled.threads.iter().flat_map(|t| &t.errors);
        terms.any(errors.copied())
    }

    fn some_bound(&self, terms: &mut Terms, is_meant: impl Fn(BoundMet) -> bool) -> Term {
        let bounds = self.unrolled.threads.iter().flat_map(|t| &t.bounds);
        let meant = bounds.filter(|(met, _)| is_meant(*met));
        terms.any(meant.map(|(_, condition)| *condition))
    }

    /// That a run meets a bound that is not known to be met, and none of those that are.
    ///
    /// In the formula others may continue when a thread has met a bound. That does not matter: the
    /// step into the bound changes nothing, and no thread has to take one, so the run up to the
    /// first of these steps is one of the program's.
    pub fn bound(&self, terms: &mut Terms, known: &BTreeSet<BoundMet>) -> Term {
        let met = self.some_bound(terms, |bound| !known.contains(&bound));
        let again = self.some_bound(terms, |bound| known.contains(&bound));
        let error = self.some_error(terms);
        let another_end = terms.or(again, error);
        let no_other_end = terms.not(another_end);
        let is_run = self.is_run(terms);
        terms.all([met, no_other_end, is_run])
    }

    /// That the run is one of the program's.
    fn is_run(&self, terms: &mut Terms) -> Term {
        let broken = self.unrolled.threads.iter().flat_map(|t| &t.broken);
        let broken = terms.any(broken.copied());
        terms.not(broken)
    }

    /// Whether a thread that has stopped at a node could still take a step when all is over,
    /// or only a step that leads to something.
    fn could_go(&self, terms: &mut Terms, slot: usize, node: &Node, only_useful: bool) -> Term {
        let layout = self.unroller.layout;
        let mut state = node.state.clone();
        for (&cell, &value) in self.unrolled.shared.iter().zip(&self.values) {
            state[cell] = value;
        }
        let Standing::At { template, location } = node.standing else {
            let absent = terms.equals(state[layout.slots[slot].place], 0);
            let is_unborn = terms.truth(node.standing == Standing::Unborn);
            let is_there = terms.not(absent);
            return terms.and(is_unborn, is_there);
        };
        let view = View {
            layout,
            state: &state,
            slot,
            template,
            timeout: Terms::FALSE,
        };
        let edges = &layout.program.templates[template].locations[location].edges;
        let ready: Vec<Term> = edges
            .iter()
            .map(|edge| match view.readiness(terms, edge) {
                Readiness::Alone(condition) => condition,
                Readiness::Offers { .. } => Terms::TRUE,
            })
            .collect();
        let mut cases = Vec::new();
        for (edge, &this) in edges.iter().zip(&ready) {
            let is_useless = self.unroller.is_useless(template, location, edge)
                || self.unroller.may_meet_bound(template, edge);
            if only_useful && is_useless {
                continue;
            }
            let higher = edges.iter().zip(&ready);
            let higher = higher.filter(|(other, _)| other.priority > edge.priority);
            let higher = terms.any(higher.map(|(_, &ready)| ready));
            let highest = terms.not(higher);
            cases.push(terms.and(this, highest));
        }
        terms.any(cases)
    }

    /// No thread that could continue stops at the end.
    pub fn assert_maximal(&self, terms: &mut Terms, blaster: &mut Blaster) {
        for thread in &self.unrolled.threads {
            for node in thread.nodes.iter().filter(|node| node.is_free) {
                let stays = terms.not(node.goes);
                let stops = terms.and(node.live, stays);
                let could = self.could_go(terms, thread.slot, node, true);
                let cannot = terms.not(could);
                let sense = terms.implies(stops, cannot);
                blaster.assert(terms, sense);
            }
        }
    }

    /// Where runs are cut off, and when.
    pub fn cuts(&self, terms: &mut Terms) -> Vec<(Cut, Term)> {
        let mut cuts = Vec::new();
        for thread in &self.unrolled.threads {
            cuts.extend(&thread.cuts);
            for &number in &thread.unborn {
                let node = &thread.nodes[number];
                let could = self.could_go(terms, thread.slot, node, true);
                cuts.push((cut_at(number), terms.and(node.live, could)));
            }
        }
        cuts
    }

    /// That no thread can move at the end although one is not at a proper end.
    pub fn deadlock(&self, terms: &mut Terms) -> Term {
        let layout = self.unroller.layout;
        let mut all = Vec::new();
        let mut waits = Vec::new();
        for thread in &self.unrolled.threads {
            for node in &thread.nodes {
                // Alive and not continued: the thread is here at the end.
                let stays = terms.not(node.goes);
                let here = terms.and(node.live, stays);
                if here == Terms::FALSE {
                    continue;
                }
                let mut moves = self.could_go(terms, thread.slot, node, false);
                if let Standing::At { template, location } = node.standing {
                    let place = &layout.program.templates[template].locations[location];
                    if !place.valid_end {
                        waits.push(here);
                    }
                    if place.ends_run() {
                        moves = Terms::TRUE;
                    }
                }
                let moves = terms.and(here, moves);
                all.push(terms.not(moves));
            }
        }
        // Where the unrolling ends nothing is known.
        for (_, cut) in self.cuts(terms) {
            all.push(terms.not(cut));
        }
        all.push(terms.any(waits));
        all.push(self.is_run(terms));
        terms.all(all)
    }
}
