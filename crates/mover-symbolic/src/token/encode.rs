//! The token as a formula.
//!
//! The threads of an unrolling are independent. A token combines them into runs: an event takes
//! place only where the token is. For each allowed pair of events there is a variable that says
//! that the token is passed from the one to the other, together with the values of all shared
//! cells and a clock. The other constraints of Ganai and Kundu (2009):
//!
//! - One thread begins with the token.
//! - An event passes the token to at most one event. That an event receives it from only one
//!   event follows: the path of the token from the start is a line, and each pass increases the
//!   clock.
//! - In each thread the clock increases from visit to visit, so the token returns to the point
//!   at which the thread was left.
//! - Where a ghost is, values pass unchanged.
//!
//! The clock is the paper's counter only where literals cannot be used instead ([`order`]).
//!
//! Whether a thread has the token, its clock and the number of times it received the token are
//! terms that are propagated along its graph like its variables.

mod order;
mod run;

use std::collections::{BTreeMap, BTreeSet};

use order::Order;

use crate::blast::Blaster;
use crate::layout::bits_for;
use crate::sat::Lit;
use crate::term::{Term, Terms};
use crate::token::Settings;
use crate::token::events::{Events, Wait, events};
use crate::token::goals::Goals;
use crate::token::pairs::{Id, Pairs, System};
use crate::token::unroll::{Node, Unrolled, Unroller};
use mover_engine::Control;

/// How often a thread may be given the token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContextBound {
    pub least: u64,
    pub most: u64,
}

/// The token's part of a node.
#[derive(Clone, Copy)]
struct Holding {
    /// Whether the thread has the token when it leaves the node.
    has: Term,
    clock: Term,
    /// How often it was given the token, up to one more than is allowed; whether it was, if
    /// there is no bound.
    visits: Term,
}

/// An event in the formula.
struct Passing {
    node: usize,
    /// Whether the token comes in from another thread.
    gets: Term,
    /// Whether it leaves to another thread from here.
    gives: Term,
    clock: Term,
    /// The shared cells when the token can leave.
    left: Vec<Term>,
}

pub struct Encoding<'e, 'p> {
    unroller: &'e Unroller<'p>,
    pub unrolled: Unrolled,
    pub system: System,
    pub pairs: BTreeSet<(Id, Id)>,
    /// All free variables.
    pub inputs: Vec<Term>,
    passings: Vec<Vec<Passing>>,
    /// By thread: the values of the shared cells where its way ends.
    ends: Vec<Vec<Term>>,
    /// By thread: whether the token is there at the end.
    ends_with: Vec<Term>,
    clock_width: u8,
    order: Order,
    /// Assumed, it lets each thread be given the token once only.
    pub few_changes: Term,
    /// By thread: whether it begins with the token.
    starts: Vec<Term>,
    /// Whether the only thread at the start stays alone, and the shared cells then.
    alone: Option<(Term, Vec<Term>)>,
    /// The literals that say that the token is passed.
    passes: BTreeMap<(Id, Id), Lit>,
}

impl<'e, 'p> Encoding<'e, 'p> {
    /// Takes the events of an unrolling and asserts how the token moves between them. If a
    /// literal is given back, some pairs count only if it is assumed. If the limit is reached
    /// the formula is not complete; the solver will not answer then either.
    pub fn new(
        unroller: &'e Unroller<'p>,
        unrolled: Unrolled,
        terms: &mut Terms,
        blaster: &mut Blaster,
        settings: &Settings,
        limit: &Control,
    ) -> (Self, Option<Lit>) {
        let which = settings.pairs;
        let bound = settings.contexts.as_deref();
        let Events { system, waits, .. } = events(unroller, &unrolled, terms);
        let system = system.with_order(&settings.thread_order);
        let pairs = system.pairs(which);
        // What `lex` has in addition to `mat` waits for the last question.
        let extra: BTreeSet<(Id, Id)> = match which {
            Pairs::Mat => system
                .pairs(Pairs::Lex)
                .difference(&pairs)
                .copied()
                .collect(),
            Pairs::All | Pairs::MatPrinted | Pairs::Lex | Pairs::ReadsFrom => BTreeSet::new(),
        };
        let total = system.events();
        let mut encoding = Encoding {
            unroller,
            inputs: unrolled.inputs.clone(),
            unrolled,
            system,
            pairs,
            passings: Vec::new(),
            ends: Vec::new(),
            ends_with: Vec::new(),
            clock_width: bits_for(total as u64 + 2),
            order: Order::Clock,
            few_changes: Terms::FALSE,
            starts: Vec::new(),
            alone: None,
            passes: BTreeMap::new(),
        };
        for assumption in encoding.unrolled.assumptions.clone() {
            blaster.assert(terms, assumption);
        }
        let all: BTreeSet<(Id, Id)> = encoding.pairs.union(&extra).copied().collect();
        encoding.assert_constant_bits(terms, blaster);
        encoding.order(blaster);
        encoding.flow(terms, blaster, &all, bound);
        encoding.locks_exclude(terms, blaster);
        encoding.waits_are_over(terms, blaster, &waits);
        let switch = (!extra.is_empty()).then(|| blaster.solver.new_lit());
        encoding.pass(terms, blaster, &all, (&extra, switch), limit);
        (encoding, switch)
    }

    /// Bits that are passed with the token.
    pub fn bits(&self) -> u64 {
        let widths = &self.unroller.layout.widths;
        let shared = self.unrolled.shared.iter();
        shared.map(|&cell| u64::from(widths[cell])).sum()
    }

    /// What can be asked: the shared cells are at the end as the last holder of the token left
    /// them.
    pub fn goals(&self, terms: &mut Terms) -> Goals<'_, 'p> {
        let ends = self
            .ends_with
            .iter()
            .copied()
            .zip(self.ends.iter().cloned());
        let cases: Vec<(Term, Vec<Term>)> = self.alone.clone().into_iter().chain(ends).collect();
        Goals {
            unroller: self.unroller,
            unrolled: &self.unrolled,
            values: merge(terms, &cases),
        }
    }

    fn input(&mut self, terms: &mut Terms, name: String, width: u8) -> Term {
        let term = terms.variable(name, width);
        self.inputs.push(term);
        term
    }

    /// Where all that is ever written to a cell is known, bits that never change are fixed.
    /// Most of what a C program's threads are started with is that.
    fn assert_constant_bits(&self, terms: &mut Terms, blaster: &mut Blaster) {
        let initial = self.unroller.layout.initial();
        for (position, &cell) in self.unrolled.shared.iter().enumerate() {
            let nodes = || {
                self.unrolled
                    .threads
                    .iter()
                    .flat_map(|thread| &thread.nodes)
            };
            let mut values = Some(BTreeSet::from([initial[cell]]));
            let early = self.unrolled.threads.iter().map(|thread| &thread.early);
            for writes in nodes().map(|node| &node.writes).chain(early) {
                if let Some(written) = writes.get(&position) {
                    values = values.zip(written.as_ref()).map(|(mut values, written)| {
                        values.extend(written);
                        values
                    });
                }
            }
            let Some(values) = values else { continue };
            let same = values
                .iter()
                .fold(u64::MAX, |same, value| same & !(value ^ initial[cell]));
            for node in nodes().filter(|node| node.is_event) {
                let bits = blaster.bits(terms, node.received[position]).to_vec();
                for (number, bit) in bits.into_iter().enumerate() {
                    if same >> number & 1 == 1 {
                        let is_set = initial[cell] >> number & 1 == 1;
                        blaster.solver.add(&[if is_set { bit } else { !bit }]);
                    }
                }
            }
        }
    }

    /// What waits for a value continues only if some thread has written it. That is known already,
    /// but only to who follows the values through the whole run.
    fn waits_are_over(&self, terms: &mut Terms, blaster: &mut Blaster, waits: &[Wait]) {
        for Wait { waiting, openers } in waits {
            let goes = blaster.lit(terms, self.node_of(*waiting).goes);
            let comes_before = |opener: &Id| {
                let is_own = opener.thread == waiting.thread;
                !is_own || opener != waiting && self.system.reaches(*opener, *waiting)
            };
            let mut some = vec![!goes];
            for &opener in openers.iter().filter(|opener| comes_before(opener)) {
                some.push(blaster.lit(terms, self.node_of(opener).goes));
            }
            blaster.solver.add(&some);
            if let ([opener], Order::Literals(_)) = (&openers[..], &self.order)
                && opener.thread != waiting.thread
            {
                let first = self.comes_first(*opener, *waiting);
                blaster.solver.add(&[!goes, first]);
            }
        }
    }

    fn node_of(&self, id: Id) -> &Node {
        let node = self.passings[id.thread][id.event].node;
        &self.unrolled.threads[id.thread].nodes[node]
    }

    /// How the token flows along each thread.
    fn flow(
        &mut self,
        terms: &mut Terms,
        blaster: &mut Blaster,
        pairs: &BTreeSet<(Id, Id)>,
        bound: Option<&[ContextBound]>,
    ) {
        self.few_changes = self.input(terms, "few changes".into(), 1);
        let comes: BTreeSet<Id> = pairs.iter().map(|(_, to)| *to).collect();
        let goes: BTreeSet<Id> = pairs.iter().map(|(from, _)| *from).collect();
        let mut starts = Vec::new();
        for thread in 0..self.unrolled.threads.len() {
            let start = self.input(terms, format!("start {thread}"), 1);
            starts.push(start);
            let most = bound.map(|bounds| bounds[thread.min(bounds.len() - 1)]);
            self.flow_thread(terms, blaster, thread, start, &comes, &goes, most);
        }
        for (number, &one) in starts.iter().enumerate() {
            for &other in &starts[number + 1..] {
                let both = terms.and(one, other);
                let not_both = terms.not(both);
                blaster.assert(terms, not_both);
            }
        }
        let somebody = terms.any(starts.iter().copied());
        blaster.assert(terms, somebody);
        // A thread that is alone at first has the token, and what it writes before it needs it
        // must not be lost. If it never uses it, no other thread ever begins.
        if let ([_], Some(&first)) = (&self.unroller.layout.program.initial[..], starts.first()) {
            let nodes = &self.unrolled.threads[0].nodes;
            let uses = nodes.iter().filter(|node| node.is_event);
            let uses = terms.any(uses.map(|node| node.goes));
            let begins = terms.implies(uses, first);
            blaster.assert(terms, begins);
            let is_first = |node: &Node| {
                let mut from = node.incoming.iter();
                node.incoming.is_empty() || from.any(|(_, from)| nodes[*from].is_outside)
            };
            let shared = &self.unrolled.shared;
            let ends: Vec<(Term, Vec<Term>)> = nodes
                .iter()
                .filter_map(|node| match node.is_event {
                    true => is_first(node).then(|| (node.reach, node.flow.clone())),
                    false => (node.is_leaf && node.is_outside).then(|| {
                        let values = shared.iter().map(|&cell| node.state[cell]);
                        (node.reach, values.collect())
                    }),
                })
                .collect();
            let values = merge(terms, &ends);
            self.alone = Some((terms.not(uses), values));
        }
        self.starts = starts;
    }

    #[allow(clippy::too_many_arguments)]
    fn flow_thread(
        &mut self,
        terms: &mut Terms,
        blaster: &mut Blaster,
        thread: usize,
        start: Term,
        comes: &BTreeSet<Id>,
        goes: &BTreeSet<Id>,
        bound: Option<ContextBound>,
    ) {
        let zero = terms.constant(0, self.clock_width);
        let visit_width = bound.map_or(1, |bound| bits_for(bound.most + 2));
        let no_visits = terms.constant(0, visit_width);
        let mut holdings: Vec<Holding> = Vec::new();
        let mut passings: Vec<Passing> = Vec::new();
        for number in 0..self.unrolled.threads[thread].nodes.len() {
            let node = &self.unrolled.threads[thread].nodes[number];
            let mut holding = match node.incoming.split_last() {
                None => Holding {
                    has: start,
                    clock: zero,
                    visits: no_visits,
                },
                Some((&(_, last), rest)) => {
                    let mut merged = holdings[last];
                    for &(condition, from) in rest.iter().rev() {
                        let from = holdings[from];
                        merged.has = terms.ite(condition, from.has, merged.has);
                        merged.clock = terms.ite(condition, from.clock, merged.clock);
                        merged.visits = terms.ite(condition, from.visits, merged.visits);
                    }
                    merged
                }
            };
            if node.is_event {
                let (reach, goes_on) = (node.reach, node.goes);
                let id = Id {
                    thread,
                    event: passings.len(),
                };
                let name = format!("{thread}.{number}");
                let mut gets = Terms::FALSE;
                if comes.contains(&id) {
                    gets = self.input(terms, format!("gets {name}"), 1);
                    // It comes only to who is here and has it not, and later than before.
                    let has_not = terms.not(holding.has);
                    let mut sense = terms.and(reach, has_not);
                    if let Order::Clock = self.order {
                        let clock = self.input(terms, format!("clock {name}"), self.clock_width);
                        let later = terms.ult(holding.clock, clock);
                        sense = terms.and(sense, later);
                        holding.clock = terms.ite(gets, clock, holding.clock);
                    }
                    let sense = terms.implies(gets, sense);
                    blaster.assert(terms, sense);
                    if let Some(bound) = bound {
                        let counts = terms.and(gets, goes_on);
                        let one = terms.constant(1, visit_width);
                        let more = terms.add(holding.visits, one);
                        holding.visits = terms.ite(counts, more, holding.visits);
                        let end = terms.constant(bound.most + 1, visit_width);
                        let few = terms.ult(holding.visits, end);
                        blaster.assert(terms, few);
                    } else {
                        let counts = terms.and(gets, goes_on);
                        let again = terms.all([self.few_changes, holding.visits, counts]);
                        let once = terms.not(again);
                        blaster.assert(terms, once);
                        holding.visits = terms.or(holding.visits, counts);
                    }
                }
                let is_here = terms.or(gets, holding.has);
                let gives = if goes.contains(&id) {
                    self.input(terms, format!("gives {name}"), 1)
                } else {
                    Terms::FALSE
                };
                let allowed = terms.and(reach, is_here);
                let sense = terms.implies(gives, allowed);
                blaster.assert(terms, sense);
                let with_token = terms.implies(reach, is_here);
                blaster.assert(terms, with_token);
                // Who keeps the token continues with the values as they are.
                let node = &self.unrolled.threads[thread].nodes[number];
                let kept = terms.not(gets);
                for (&flow, &now) in node.flow.iter().zip(&node.received) {
                    let same = terms.eq(flow, now);
                    let same = terms.implies(kept, same);
                    blaster.assert(terms, same);
                }
                passings.push(Passing {
                    node: number,
                    gets,
                    gives,
                    clock: holding.clock,
                    left: Vec::new(),
                });
                let keeps = terms.not(gives);
                holding.has = terms.and(is_here, keeps);
            }
            holdings.push(holding);
        }
        let nodes = &self.unrolled.threads[thread].nodes;
        if let Some(bound) = bound
            && bound.least > 0
        {
            let least = terms.constant(bound.least, visit_width);
            for (node, holding) in nodes.iter().zip(&holdings).filter(|(n, _)| n.is_leaf) {
                let few = terms.ult(holding.visits, least);
                let enough = terms.not(few);
                let sense = terms.implies(node.reach, enough);
                blaster.assert(terms, sense);
            }
        }
        // Where the token can leave: before the next event, or at the end.
        for passing in &mut passings {
            let ends: Vec<(Term, Vec<Term>)> = nodes
                .iter()
                .enumerate()
                .filter_map(|(number, node)| self.left_at(nodes, number, node, passing.node))
                .collect();
            passing.left = merge(terms, &ends);
        }
        let shared = &self.unrolled.shared;
        let leaves: Vec<(Term, Vec<Term>)> = nodes
            .iter()
            .filter(|node| node.is_leaf)
            .map(|node| (node.reach, shared.iter().map(|&c| node.state[c]).collect()))
            .collect();
        self.ends.push(merge(terms, &leaves));
        let mut ends_with = Terms::FALSE;
        for (node, holding) in nodes.iter().zip(&holdings).filter(|(n, _)| n.is_leaf) {
            ends_with = terms.ite(node.reach, holding.has, ends_with);
        }
        self.ends_with.push(ends_with);
        self.passings.push(passings);
    }

    /// When and with which values a thread that was last at an event reaches where the
    /// token may leave.
    fn left_at(
        &self,
        nodes: &[Node],
        number: usize,
        node: &Node,
        event: usize,
    ) -> Option<(Term, Vec<Term>)> {
        if node.is_event && number != event {
            let mut from = node.incoming.iter();
            let comes = from.any(|(_, from)| nodes[*from].sources.contains(&event));
            return comes.then(|| (node.reach, node.flow.clone()));
        }
        let shared = &self.unrolled.shared;
        let ends = node.is_leaf && node.sources.contains(&event);
        ends.then(|| (node.reach, shared.iter().map(|&c| node.state[c]).collect()))
    }

    /// Lets the token go from event to event.
    fn pass(
        &mut self,
        terms: &mut Terms,
        blaster: &mut Blaster,
        pairs: &BTreeSet<(Id, Id)>,
        (extra, switch): (&BTreeSet<(Id, Id)>, Option<Lit>),
        limit: &Control,
    ) {
        let mut comes: BTreeMap<Id, Vec<Lit>> = BTreeMap::new();
        let mut goes: BTreeMap<Id, Vec<Lit>> = BTreeMap::new();
        let says_what_is_between = self.can_say_what_is_between(pairs);
        for (number, &(from, to)) in pairs.iter().enumerate() {
            if number % 1024 == 0 && limit.is_over() {
                return;
            }
            let passes = blaster.solver.new_lit();
            comes.entry(to).or_default().push(passes);
            goes.entry(from).or_default().push(passes);
            if let Some(switch) = switch
                && extra.contains(&(from, to))
            {
                blaster.solver.add(&[!passes, switch]);
            }
            self.passes.insert((from, to), passes);
            let source = &self.passings[from.thread][from.event];
            let target = &self.passings[to.thread][to.event];
            let node = &self.unrolled.threads[to.thread].nodes[target.node];
            let values = source
                .left
                .iter()
                .copied()
                .zip(node.received.iter().copied());
            let mut values: Vec<(Term, Term)> = values.collect();
            match &self.order {
                Order::Clock => {
                    let one = terms.constant(1, self.clock_width);
                    values.push((terms.add(source.clock, one), target.clock));
                }
                Order::Literals(_) => {
                    let first = self.comes_first(from, to);
                    blaster.solver.add(&[!passes, first]);
                    if says_what_is_between {
                        self.nothing_between(terms, blaster, from, to, passes);
                    }
                }
            }
            for (sent, got) in values {
                let sent = blaster.bits(terms, sent).to_vec();
                let got = blaster.bits(terms, got).to_vec();
                for (sent, got) in sent.into_iter().zip(got) {
                    blaster.solver.add(&[!passes, !sent, got]);
                    blaster.solver.add(&[!passes, sent, !got]);
                }
            }
        }
        for (thread, passings) in self.passings.iter().enumerate() {
            for (event, passing) in passings.iter().enumerate() {
                let id = Id { thread, event };
                for (term, passes) in [
                    (passing.gets, comes.get(&id)),
                    (passing.gives, goes.get(&id)),
                ] {
                    let Some(passes) = passes else { continue };
                    let lit = blaster.lit(terms, term);
                    let mut some = vec![!lit];
                    some.extend(passes);
                    blaster.solver.add(&some);
                    passes
                        .iter()
                        .for_each(|&one| blaster.solver.add(&[!one, lit]));
                }
                if let Some(passes) = goes.get(&id) {
                    at_most_one(blaster, passes);
                }
            }
        }
    }
}

/// The values of the first case that holds; one of them does, or it does not matter.
fn merge(terms: &mut Terms, cases: &[(Term, Vec<Term>)]) -> Vec<Term> {
    let Some(((_, last), rest)) = cases.split_last() else {
        return Vec::new();
    };
    let mut merged = last.clone();
    for (condition, values) in rest.iter().rev() {
        for (cell, &value) in merged.iter_mut().zip(values) {
            if *cell != value {
                *cell = terms.ite(*condition, value, *cell);
            }
        }
    }
    merged
}

/// A ladder: linear in the number of literals.
fn at_most_one(blaster: &mut Blaster, lits: &[Lit]) {
    if let [one, other] = lits {
        blaster.solver.add(&[!*one, !*other]);
        return;
    }
    let mut before: Option<Lit> = None;
    for &lit in lits {
        let so_far = blaster.solver.new_gate();
        blaster.solver.add(&[!lit, so_far]);
        if let Some(before) = before {
            blaster.solver.add(&[!before, so_far]);
            blaster.solver.add(&[!before, !lit]);
        }
        before = Some(so_far);
    }
}
