//! A transaction as a formula.
//!
//! After Günther et al. (2017), Sections 4.2, 4.3 and 5. Between transactions every thread is
//! *external*. A block takes one thread from an external state through one transaction; while
//! it takes only right movers it is *right* (pre-commit), after another step it is *left*
//! (post-commit) and takes only left movers. The paper rewrites the program so that locations
//! carry phases (its Table 3); here the same graph is traversed while the formula is built: a
//! node is a location with a phase, and the mover conditions of the edges determine the target
//! node of a step.
//!
//! The formula is built by *merging*: nodes are visited in topological order; each has a
//! condition (the block passes here) and a state, which is a choice between the incoming
//! states. So its size grows with the program and not with the number of its paths (large-block
//! encoding).
//!
//! Graphs with loops have no topological order, so loops are cut:
//!
//! - in the left phase the block ends at a cut, which also prevents a transaction from running
//!   for ever after its commit while other threads wait;
//! - in the right phase the state at a cut is exposed, and only the same thread may continue
//!   from there (the paper's C′);
//! - the same inside an atomic sequence.
//!
//! Correction to the paper, found by experiment: a left location is external not only where
//! some edge may not be a left mover, but also where no edge is enabled or there is none;
//! otherwise other threads would wait for it for ever.
//!
//! **Bounds.** A run that meets a bound ends there and says nothing about what other threads
//! could have done before. So where the only continuation in the left phase leads to a bound,
//! the block may also end, and an atomic sequence that may meet a bound is not entered in the
//! left phase.
//!
//! **Atomic sequences.** The steps of an atomic sequence are a single step to other threads. It
//! is a right mover if all its steps are; it is a left mover only if that is known statically,
//! because it cannot be interrupted; and it is never a left mover if it may run for ever.
//!
//! **Deadlocks.** Right movers hide deadlocks. If deadlocks are checked, a block also ends
//! where its thread is blocked, and before it acquires a second lock.
//!
//! **Rendezvous.** A thread at an unbuffered receive is moved by other threads, so it is
//! external there; a block ends after a rendezvous.

mod encoding;
mod graph;

use mover_ir::program::{BoundKind, BoundMet, Location, LocationId, Template, TemplateId};
use mover_ir::semantics::Step;
use mover_reduce::ReductionPlan;
use mover_reduce::facts::access::EdgeRef;
use rustc_hash::FxHashMap;

use crate::layout::{Bounds, Layout, Turn};
use crate::machine::{Symbols, View};
use crate::term::{Evaluation, Term, Terms};
use encoding::{Encoding, merge};
use graph::Graph;
use mover_engine::{Control, EngineError};

/// A step that a block may contain.
pub struct Possible {
    /// Whether the block contains it.
    pub condition: Term,
    slot: usize,
    template: usize,
    location: usize,
    edge: usize,
    with: Option<(usize, usize)>,
    choice: Option<Term>,
}

impl Possible {
    pub fn edge(&self) -> EdgeRef {
        EdgeRef {
            template: self.template,
            location: self.location,
            edge: self.edge,
        }
    }
}

/// The formula of one block.
pub struct Block {
    /// The state after it.
    pub next: Symbols,
    /// Whether there is such a block at all.
    pub possible: Term,
    /// In an order in which those that happen happen.
    pub steps: Vec<Possible>,
    /// The scheduler's choice: which thread moves.
    pub who: Term,
    /// Whether a limit was reached before the formula was complete.
    pub is_cut: bool,
}

/// Free variables of a block: what the scheduler and the program choose.
#[derive(Default)]
pub struct Inputs {
    name: String,
    known: FxHashMap<(usize, usize), Term>,
    pub all: Vec<Term>,
}

impl Inputs {
    pub fn new(name: impl Into<String>) -> Self {
        Inputs {
            name: name.into(),
            ..Inputs::default()
        }
    }

    fn get(&mut self, terms: &mut Terms, node: usize, option: usize, width: u8) -> Term {
        if let Some(&known) = self.known.get(&(node, option))
            && terms.width(known) == width
        {
            return known;
        }
        let term = terms.variable(format!("choice{} {node}.{option}", self.name), width);
        self.known.insert((node, option), term);
        self.all.push(term);
        term
    }

    fn who(&mut self, terms: &mut Terms, width: u8) -> Term {
        let term = terms.variable(format!("who{}", self.name), width);
        self.all.push(term);
        term
    }
}

pub struct Blocks<'p> {
    pub layout: Layout<'p>,
    plan: &'p ReductionPlan,
    graphs: Vec<Graph>,
    keep_deadlocks: bool,
    uses_timeout: bool,
    /// When to give up making a formula.
    limit: Control,
}

impl<'p> Blocks<'p> {
    pub fn new(
        plan: &'p ReductionPlan,
        bounds: Bounds,
        keep_deadlocks: bool,
        limit: Control,
    ) -> Result<Self, EngineError> {
        let layout = Layout::new(&plan.program, bounds)?;
        let mut blocks = Blocks {
            uses_timeout: plan.program.uses_timeout(),
            layout,
            plan,
            graphs: Vec::new(),
            keep_deadlocks,
            limit,
        };
        for template in 0..plan.program.templates.len() {
            let graph = blocks.graph(template);
            blocks.graphs.push(graph);
        }
        Ok(blocks)
    }

    fn template(&self, template: usize) -> &'p Template {
        &self.plan.program.templates[template]
    }

    /// The formula of one block from a state.
    pub fn block(&self, terms: &mut Terms, state: &[Term], inputs: &mut Inputs) -> Block {
        self.block_from(terms, state, inputs, &|_, _| true)
    }

    /// The same for states in which threads stand at certain places only, by slot and number.
    pub fn block_from(
        &self,
        terms: &mut Terms,
        state: &[Term],
        inputs: &mut Inputs,
        stands: &dyn Fn(usize, u64) -> bool,
    ) -> Block {
        let slots = self.layout.slots.len();
        let who = inputs.who(terms, crate::layout::bits_for(slots as u64));
        let mut block = Encoding {
            blocks: self,
            stands,
            inputs,
            exits: Vec::new(),
            steps: Vec::new(),
            is_cut: false,
        };
        let enabled: Option<Vec<Term>> = (self.uses_timeout
            || self.plan.program.priority_scheduling)
            .then(|| self.enabled(terms, state, Terms::FALSE));
        let timeout = match &enabled {
            Some(enabled) if self.uses_timeout => {
                let any = terms.any(enabled.iter().copied());
                terms.not(any)
            }
            _ => Terms::FALSE,
        };
        let first = match enabled {
            Some(_) if self.plan.program.priority_scheduling => {
                let enabled = self.enabled(terms, state, timeout);
                self.of_highest_priority(terms, state, &enabled)
            }
            _ => vec![Terms::TRUE; slots],
        };
        let goes_on = {
            let is_over = self.run_is_over(terms, state);
            terms.not(is_over)
        };
        for (slot, &may_start) in first.iter().enumerate() {
            let chosen = terms.equals(who, slot as u64);
            let chosen = terms.and(chosen, goes_on);
            for template in 0..self.graphs.len() {
                if self.layout.slots[slot].residents[template].is_some() {
                    block.thread(terms, state, slot, template, chosen, may_start, timeout);
                }
            }
        }
        let Encoding {
            exits,
            steps,
            is_cut,
            ..
        } = block;
        let possible = terms.any(exits.iter().map(|(condition, _)| *condition));
        Block {
            next: merge(terms, &exits, state),
            possible,
            steps,
            who,
            is_cut,
        }
    }

    /// For each slot whether its thread can move, whichever thread must run next.
    pub fn enabled(&self, terms: &mut Terms, state: &[Term], timeout: Term) -> Vec<Term> {
        (0..self.layout.slots.len())
            .map(|slot| {
                let mut cases = Vec::new();
                for template in 0..self.graphs.len() {
                    for (location, place) in self.template(template).locations.iter().enumerate() {
                        let id = LocationId(location as u32);
                        let Some(value) = self.layout.place_value(slot, template, id) else {
                            continue;
                        };
                        if place.edges.is_empty() {
                            continue;
                        }
                        let view = self.view(state, slot, template, timeout);
                        let at = terms.equals(view.place(slot), value);
                        if at != Terms::FALSE {
                            let can = view.can_move(terms, location);
                            cases.push(terms.and(at, can));
                        }
                    }
                }
                terms.any(cases)
            })
            .collect()
    }

    fn of_highest_priority(
        &self,
        terms: &mut Terms,
        state: &[Term],
        enabled: &[Term],
    ) -> Vec<Term> {
        let priority = |slot: usize| self.layout.slots[slot].priority.map(|cell| state[cell]);
        (0..enabled.len())
            .map(|slot| {
                let Some(mine) = priority(slot) else {
                    return Terms::TRUE;
                };
                let mut all = Vec::new();
                for (other, &can) in enabled.iter().enumerate() {
                    if let Some(theirs) = priority(other) {
                        let above = terms.ult(mine, theirs);
                        let held_up = terms.and(above, can);
                        all.push(terms.not(held_up));
                    }
                }
                terms.all(all)
            })
            .collect()
    }

    fn view<'a>(
        &'a self,
        state: &'a [Term],
        slot: usize,
        template: usize,
        timeout: Term,
    ) -> View<'a, 'p> {
        View {
            layout: &self.layout,
            state,
            slot,
            template,
            timeout,
        }
    }

    /// Whether some thread has run into an error or a bound.
    pub fn run_is_over(&self, terms: &mut Terms, state: &[Term]) -> Term {
        self.somebody_at(terms, state, |_, location| location.ends_run())
    }

    /// Whether some thread has met one of the bounds that are asked for.
    pub fn meets_bound(
        &self,
        terms: &mut Terms,
        state: &[Term],
        is_asked: impl Fn(BoundMet, BoundKind) -> bool,
    ) -> Term {
        self.somebody_at(terms, state, |at, location| {
            let mark = location.bound.as_ref();
            mark.is_some_and(|mark| is_asked(at, mark.kind))
        })
    }

    pub fn somebody_at(
        &self,
        terms: &mut Terms,
        state: &[Term],
        wanted: impl Fn(BoundMet, &Location) -> bool,
    ) -> Term {
        let mut cases = Vec::new();
        for slot in 0..self.layout.slots.len() {
            for (template, body) in self.plan.program.templates.iter().enumerate() {
                for (location, place) in body.locations.iter().enumerate() {
                    let id = LocationId(location as u32);
                    let at = BoundMet {
                        template: TemplateId(template as u32),
                        location: id,
                    };
                    if wanted(at, place)
                        && let Some(value) = self.layout.place_value(slot, template, id)
                    {
                        let cell = self.layout.slots[slot].place;
                        cases.push(terms.equals(state[cell], value));
                    }
                }
            }
        }
        terms.any(cases)
    }

    /// Whether no thread can move although some thread is not at a proper end.
    pub fn deadlock(&self, terms: &mut Terms, state: &[Term]) -> Term {
        let waits = self.somebody_at(terms, state, |_, location| !location.valid_end);
        let is_over = self.run_is_over(terms, state);
        let goes_on = terms.not(is_over);
        let turn = terms.equals(state[self.layout.turn], 0);
        let mut all = vec![waits, goes_on, turn];
        let timeouts = if self.uses_timeout {
            vec![Terms::FALSE, Terms::TRUE]
        } else {
            vec![Terms::FALSE]
        };
        for timeout in timeouts {
            for can in self.enabled(terms, state, timeout) {
                all.push(terms.not(can));
            }
        }
        terms.all(all)
    }

    /// Whether the run has left the bounds.
    pub fn beyond(&self, terms: &mut Terms, state: &[Term]) -> Term {
        if self.layout.is_exact() {
            Terms::FALSE
        } else {
            terms.equals(
                state[self.layout.turn],
                self.layout.turn_value(Turn::Beyond),
            )
        }
    }

    /// The steps of a block under an assignment of the inputs, as steps of the original program.
    pub fn steps(&self, block: &Block, values: &mut Evaluation) -> Vec<Step> {
        let mut steps = Vec::new();
        for possible in &block.steps {
            if !values.holds(possible.condition) {
                continue;
            }
            let with = possible
                .with
                .map(|(thread, edge)| mover_ir::semantics::Move { thread, edge });
            let choice = possible.choice.map_or(0, |choice| values.eval(choice));
            let parts = &self.plan.made_of[possible.template][possible.location][possible.edge];
            steps.extend(parts.iter().map(|part| Step {
                by: mover_ir::semantics::Move {
                    thread: possible.slot,
                    edge: part.edge,
                },
                with,
                choice: if part.chooses { choice } else { 0 },
            }));
        }
        steps
    }
}
