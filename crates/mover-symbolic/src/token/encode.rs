//! The token as a formula.
//!
//! The threads of an unrolling know nothing of each other. What makes runs of them is a
//! token: an event takes place only where the token is. For each allowed pair of events
//! there is a variable that says that the token goes from the one to the other; with it go
//! the values of all shared cells and a clock. Of the rest of paper 004's constraints:
//!
//! - One thread begins with the token.
//! - An event gives the token to one event at most. That an event gets it from one only
//!   follows: the token's way from the start is a line, and each change of hands moves the
//!   clock.
//! - In each thread the clock grows from visit to visit, so the token comes back to where
//!   the thread was left.
//!
//! The clock is not the paper's counter where that can be avoided: a literal for each two
//! events of different threads says which comes first, and clauses make that an order. Of
//! numbers a solver learns little before it knows them; of the order of two events it learns
//! at once. Only if there are too many events for that there is a counter.
//!
//! - Where a ghost is, values pass unchanged.
//!
//! A thread has the token or not, its clock and how often it got the token are terms that
//! flow along its graph like its variables do.
//!
//! **Order that is clear.** Some events can only happen after others: a thread begins
//! after it was started, `pthread_join` returns after the thread has ended. Such an event
//! is recognised by its guard: it is false for every value that the cell can have had
//! before the other thread wrote it ([`ordered`]). Pairs against the order are
//! left out and such conflicts do not count, for nothing needs to be decided there.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::semantics::{Move, Step};
use rustc_hash::FxHashMap;

use crate::blast::Blaster;
use crate::layout::bits_for;
use crate::machine::{Readiness, View};
use crate::sat::{Limit, Lit};
use crate::term::{Evaluation, Term, Terms};
use crate::token::pairs::{Event, Id, Pairs, System};
use crate::token::unroll::{Cut, Node, Standing, Unrolled, Unroller, Writes};

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
    /// How often it was given the token, up to one more than is allowed.
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
    /// By thread: whether it begins with the token.
    starts: Vec<Term>,
    /// Whether the only thread at the start stays alone, and the shared cells then.
    alone: Option<(Term, Vec<Term>)>,
    /// The literals that say that the token is passed.
    passes: BTreeMap<(Id, Id), Lit>,
}

/// What keeps the token from going round in circles.
enum Order {
    Clock,
    /// For events of different threads, the thread with the smaller number first: whether
    /// they come in this order.
    Literals(FxHashMap<(Id, Id), Lit>),
}

/// Most clauses that make an order of literals.
const MOST_ORDER_CLAUSES: usize = 3_000_000;

impl<'e, 'p> Encoding<'e, 'p> {
    /// Takes the events of an unrolling and asserts how the token moves between them. If a
    /// literal is given back, some pairs count only if it is assumed. If the limit is reached
    /// the formula is not complete; the solver will not answer then either.
    pub fn new(
        unroller: &'e Unroller<'p>,
        unrolled: Unrolled,
        terms: &mut Terms,
        blaster: &mut Blaster,
        which: Pairs,
        bound: Option<&[ContextBound]>,
        limit: &Limit,
    ) -> (Self, Option<Lit>) {
        let (system, _) = system(unroller, &unrolled, terms);
        let pairs = system.pairs(which);
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
            starts: Vec::new(),
            alone: None,
            passes: BTreeMap::new(),
        };
        // What `mat` leaves out of `lex` waits for the last question.
        let extra: BTreeSet<(Id, Id)> = match which {
            Pairs::Mat => {
                let lex = encoding.system.pairs(Pairs::Lex);
                lex.difference(&encoding.pairs).copied().collect()
            }
            Pairs::All | Pairs::Lex => BTreeSet::new(),
        };
        for assumption in encoding.unrolled.assumptions.clone() {
            blaster.assert(terms, assumption);
        }
        let all: BTreeSet<(Id, Id)> = encoding.pairs.union(&extra).copied().collect();
        encoding.assert_constant_bits(terms, blaster);
        encoding.order(blaster);
        encoding.flow(terms, blaster, &all, bound);
        let switch = (!extra.is_empty()).then(|| blaster.solver.new_lit());
        encoding.pass(terms, blaster, &all, (&extra, switch), limit);
        (encoding, switch)
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

    fn ids(&self) -> Vec<Id> {
        let threads = self.system.threads.iter().enumerate();
        threads
            .flat_map(|(thread, events)| (0..events.len()).map(move |event| Id { thread, event }))
            .collect()
    }

    /// That an event comes before one of another thread.
    fn comes_first(&self, a: Id, b: Id) -> Lit {
        let Order::Literals(literals) = &self.order else {
            unreachable!("a clock has no literals");
        };
        if a.thread < b.thread {
            literals[&(a, b)]
        } else {
            !literals[&(b, a)]
        }
    }

    /// Makes an order of all events, if that is not too much.
    fn order(&mut self, blaster: &mut Blaster) {
        let counts: Vec<usize> = self.system.threads.iter().map(Vec::len).collect();
        let mut clauses = 0;
        for (i, &one) in counts.iter().enumerate() {
            for (j, &two) in counts.iter().enumerate().skip(i + 1) {
                let rest: usize = counts[j + 1..].iter().sum();
                clauses += one * two * (2 + 2 * rest);
            }
        }
        if clauses > MOST_ORDER_CLAUSES {
            return;
        }
        let ids = self.ids();
        let mut literals = FxHashMap::default();
        for &a in &ids {
            for &b in ids.iter().filter(|b| b.thread > a.thread) {
                literals.insert((a, b), blaster.solver.new_lit());
            }
        }
        self.order = Order::Literals(literals);
        for &a in &ids {
            for &b in ids.iter().filter(|b| b.thread > a.thread) {
                let first = self.comes_first(a, b);
                // Each thread in its own order.
                if let Some(event) = a.event.checked_sub(1) {
                    let before = self.comes_first(Id { event, ..a }, b);
                    blaster.solver.add(&[!first, before]);
                }
                if b.event + 1 < counts[b.thread] {
                    let event = b.event + 1;
                    let after = self.comes_first(a, Id { event, ..b });
                    blaster.solver.add(&[!first, after]);
                }
                for &c in ids.iter().filter(|c| c.thread > b.thread) {
                    let (b_c, a_c) = (self.comes_first(b, c), self.comes_first(a, c));
                    blaster.solver.add(&[!first, !b_c, a_c]);
                    blaster.solver.add(&[first, b_c, !a_c]);
                }
            }
        }
    }

    /// When the token goes from one event to another, no third one comes between them.
    fn nothing_between(
        &self,
        terms: &mut Terms,
        blaster: &mut Blaster,
        from: Id,
        to: Id,
        passes: Lit,
    ) {
        for (thread, passings) in self.passings.iter().enumerate() {
            for (event, passing) in passings.iter().enumerate() {
                let id = Id { thread, event };
                let node = &self.unrolled.threads[thread].nodes[passing.node];
                let reach = blaster.lit(terms, node.reach);
                let mut clause = vec![!passes, !reach];
                if thread == from.thread {
                    if event <= from.event {
                        continue;
                    }
                    clause.push(self.comes_first(to, id));
                } else if thread == to.thread {
                    if event >= to.event {
                        continue;
                    }
                    clause.push(self.comes_first(id, from));
                } else {
                    clause.push(self.comes_first(id, from));
                    clause.push(self.comes_first(to, id));
                }
                blaster.solver.add(&clause);
            }
        }
    }

    /// How the token flows along each thread.
    fn flow(
        &mut self,
        terms: &mut Terms,
        blaster: &mut Blaster,
        pairs: &BTreeSet<(Id, Id)>,
        bound: Option<&[ContextBound]>,
    ) {
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
        // must not be lost. If it never uses it, nobody else ever begins.
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
                // Who keeps the token goes on with the values as they are.
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

    /// When and with which values a thread that was last at an event comes to where the
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
        limit: &Limit,
    ) {
        let mut comes: BTreeMap<Id, Vec<Lit>> = BTreeMap::new();
        let mut goes: BTreeMap<Id, Vec<Lit>> = BTreeMap::new();
        for (number, &(from, to)) in pairs.iter().enumerate() {
            if number % 1024 == 0 && limit.is_reached() {
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
                    if pairs.len() * self.system.events() <= MOST_ORDER_CLAUSES {
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

    /// Bits that are passed with the token.
    pub fn bits(&self) -> u64 {
        let widths = &self.unroller.layout.widths;
        let shared = self.unrolled.shared.iter();
        shared.map(|&cell| u64::from(widths[cell])).sum()
    }

    /// That a thread runs into an error.
    pub fn error(&self, terms: &mut Terms) -> Term {
        let errors = self.unrolled.threads.iter().flat_map(|t| &t.errors);
        let error = terms.any(errors.copied());
        let is_run = self.is_run(terms);
        terms.and(error, is_run)
    }

    /// That the run is one of the program's.
    fn is_run(&self, terms: &mut Terms) -> Term {
        let broken = self.unrolled.threads.iter().flat_map(|t| &t.broken);
        let broken = terms.any(broken.copied());
        terms.not(broken)
    }

    /// The values of the shared cells when all is over.
    fn final_values(&self, terms: &mut Terms) -> Vec<Term> {
        let ends = self
            .ends_with
            .iter()
            .copied()
            .zip(self.ends.iter().cloned());
        let cases: Vec<(Term, Vec<Term>)> = self.alone.clone().into_iter().chain(ends).collect();
        merge(terms, &cases)
    }

    /// Whether a thread that has stopped at a node could still take a step when all is over,
    /// or only a step that leads to something.
    fn could_go(
        &self,
        terms: &mut Terms,
        values: &[Term],
        slot: usize,
        node: &Node,
        only_useful: bool,
    ) -> Term {
        let layout = self.unroller.layout;
        let mut state = node.state.clone();
        for (&cell, &value) in self.unrolled.shared.iter().zip(values) {
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
            if only_useful && self.unroller.is_useless(template, location, edge) {
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

    /// Nobody stops who could go on at the end.
    pub fn assert_maximal(&self, terms: &mut Terms, blaster: &mut Blaster) {
        let values = self.final_values(terms);
        for thread in &self.unrolled.threads {
            for node in thread.nodes.iter().filter(|node| node.is_free) {
                let stays = terms.not(node.goes);
                let stops = terms.and(node.live, stays);
                let could = self.could_go(terms, &values, thread.slot, node, true);
                let cannot = terms.not(could);
                let sense = terms.implies(stops, cannot);
                blaster.assert(terms, sense);
            }
        }
    }

    /// Where runs are cut off, and when.
    pub fn cuts(&self, terms: &mut Terms) -> Vec<(Cut, Term)> {
        let values = self.final_values(terms);
        let mut cuts = Vec::new();
        for thread in &self.unrolled.threads {
            cuts.extend(&thread.cuts);
            for &number in &thread.unborn {
                let node = &thread.nodes[number];
                let could = self.could_go(terms, &values, thread.slot, node, true);
                cuts.push((Cut::Depth, terms.and(node.live, could)));
            }
        }
        cuts
    }

    /// That no thread can move at the end although one is not at a proper end.
    pub fn deadlock(&self, terms: &mut Terms) -> Term {
        let layout = self.unroller.layout;
        let values = self.final_values(terms);
        let mut all = Vec::new();
        let mut waits = Vec::new();
        for thread in &self.unrolled.threads {
            for node in &thread.nodes {
                // Alive and not gone on: the thread stands here at the end.
                let stays = terms.not(node.goes);
                let here = terms.and(node.live, stays);
                if here == Terms::FALSE {
                    continue;
                }
                let mut moves = self.could_go(terms, &values, thread.slot, node, false);
                if let Standing::At { template, location } = node.standing {
                    let place = &layout.program.templates[template].locations[location];
                    if !place.valid_end {
                        waits.push(here);
                    }
                    if place.error.is_some() {
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

    /// The steps of the run that the solver found, as far as they are the program's.
    pub fn steps(&self, terms: &Terms, blaster: &Blaster, made_of: &MadeOf) -> Vec<Step> {
        let values = blaster.assignment(terms, self.inputs.iter().copied());
        let value = |var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(terms, &value);
        let mut before: Vec<Step> = Vec::new();
        // By thread: the steps of each of its events.
        let mut words: Vec<BTreeMap<usize, Vec<Step>>> = Vec::new();
        for thread in &self.unrolled.threads {
            let mut of_thread: BTreeMap<usize, Vec<Step>> = BTreeMap::new();
            let mut event = 0;
            let mut last = None;
            for node in &thread.nodes {
                if node.is_event {
                    if evaluation.holds(node.reach) {
                        last = Some(event);
                        of_thread.insert(event, Vec::new());
                    }
                    event += 1;
                }
                for take in &node.takes {
                    let Some(edge) = take.edge else { continue };
                    if !evaluation.holds(take.condition) {
                        continue;
                    }
                    let choice = take.choice.map_or(0, |choice| evaluation.eval(choice));
                    let parts = &made_of[edge.template][edge.location][edge.edge];
                    let steps = parts.iter().map(|part| Step {
                        by: Move {
                            thread: thread.slot,
                            edge: part.edge,
                        },
                        with: None,
                        choice: if part.chooses { choice } else { 0 },
                    });
                    // Before its first event a thread needs nobody.
                    match last.and_then(|last| of_thread.get_mut(&last)) {
                        Some(word) => word.extend(steps),
                        None => before.extend(steps),
                    }
                }
            }
            words.push(of_thread);
        }
        // The way of the token.
        let mut steps = before;
        let mut thread = (0..words.len()).find(|&thread| evaluation.holds(self.starts[thread]));
        let passed = |from: Id| {
            let to_all = self.passes.range((from, Id::FIRST)..=(from, Id::LAST));
            let mut taken = to_all.filter(|(_, lit)| blaster.solver.value(**lit));
            taken.next().map(|(&(_, to), _)| to)
        };
        while let Some(number) = thread {
            thread = None;
            while let Some((event, word)) = words[number].pop_first() {
                steps.extend(word);
                let from = Id {
                    thread: number,
                    event,
                };
                if evaluation.holds(self.passings[number][event].gives) {
                    thread = passed(from).map(|to| to.thread);
                    break;
                }
            }
        }
        steps
    }
}

type MadeOf = Vec<Vec<Vec<Vec<mover_reduce::fuse::Part>>>>;

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

/// The events of the threads with what they touch and what follows what, and their nodes.
pub fn system(
    unroller: &Unroller,
    unrolled: &Unrolled,
    terms: &mut Terms,
) -> (System, Vec<Vec<usize>>) {
    let events: Vec<Vec<usize>> = unrolled
        .threads
        .iter()
        .map(|thread| {
            let nodes = thread.nodes.iter().enumerate();
            let events = nodes.filter(|(_, node)| node.is_event);
            events.map(|(number, _)| number).collect()
        })
        .collect();
    let threads: Vec<Vec<Event>> = unrolled
        .threads
        .iter()
        .zip(&events)
        .map(|(thread, events)| {
            let position = |node: usize| events.binary_search(&node).ok();
            let mut made: Vec<Event> = events
                .iter()
                .map(|&node| Event {
                    reads: thread.nodes[node].reads.clone(),
                    writes: thread.nodes[node].writes.keys().copied().collect(),
                    ..Event::default()
                })
                .collect();
            for (number, node) in thread.nodes.iter().enumerate() {
                let from = node.incoming.iter().map(|(_, from)| *from);
                if let Some(event) = position(number) {
                    let mut before: BTreeSet<usize> = BTreeSet::new();
                    for from in from {
                        made[event].may_begin |= thread.nodes[from].is_outside;
                        before.extend(&thread.nodes[from].sources);
                    }
                    made[event].may_begin |= node.incoming.is_empty();
                    for before in before.into_iter().filter_map(position) {
                        made[before].next.push(event);
                    }
                }
                if node.is_leaf {
                    for event in node.sources.iter().copied().filter_map(position) {
                        made[event].may_end = true;
                    }
                }
            }
            made
        })
        .collect();
    let ordered = ordered(unroller, unrolled, terms, &events, &threads);
    (System::new(threads, &ordered), events)
}

/// Pairs of events of different threads the first of which always comes before the second.
fn ordered(
    unroller: &Unroller,
    unrolled: &Unrolled,
    terms: &mut Terms,
    events: &[Vec<usize>],
    threads: &[Vec<Event>],
) -> Vec<(Id, Id)> {
    let initial = unroller.layout.initial();
    let mut ordered = Vec::new();
    for (waiter, waiting) in unrolled.threads.iter().enumerate() {
        for (event, &node) in events[waiter].iter().enumerate() {
            for position in waiting.nodes[node].reads.clone() {
                let cell = unrolled.shared[position];
                let opens = |terms: &mut Terms, value: u64| {
                    is_open(unroller, waiting, node, terms, cell, value)
                };
                let may_open = |writes: &Writes, terms: &mut Terms| match writes.get(&position) {
                    None => false,
                    Some(None) => true,
                    Some(Some(values)) => values.iter().any(|&value| opens(terms, value)),
                };
                let mut early = unrolled.threads.iter().map(|thread| &thread.early);
                if opens(terms, initial[cell]) || early.any(|early| may_open(early, terms)) {
                    continue;
                }
                // Who else may write something that lets the event happen?
                let mut openers: Vec<Id> = Vec::new();
                for (writer, thread) in unrolled.threads.iter().enumerate() {
                    for (number, &written) in events[writer].iter().enumerate() {
                        if may_open(&thread.nodes[written].writes, terms) {
                            openers.push(Id {
                                thread: writer,
                                event: number,
                            });
                        }
                    }
                }
                let Some(&Id { thread: writer, .. }) = openers.first() else {
                    continue;
                };
                if writer == waiter || openers.iter().any(|id| id.thread != writer) {
                    continue;
                }
                let opening: BTreeSet<usize> = openers.iter().map(|id| id.event).collect();
                let before = surely_before(&threads[writer], &opening);
                let after = surely_after(&threads[waiter], event);
                for &first in &before {
                    ordered.extend(after.iter().map(|&second| {
                        let first = Id {
                            thread: writer,
                            event: first,
                        };
                        let second = Id {
                            thread: waiter,
                            event: second,
                        };
                        (first, second)
                    }));
                }
            }
        }
    }
    // Threads that wait for each other have no order that all ghosts can keep.
    if is_acyclic(threads, &ordered) {
        ordered
    } else {
        Vec::new()
    }
}

/// Whether the first step of an event may be possible when a cell has a value.
fn is_open(
    unroller: &Unroller,
    thread: &crate::token::unroll::Thread,
    node: usize,
    terms: &mut Terms,
    cell: usize,
    value: u64,
) -> bool {
    let layout = unroller.layout;
    let node = &thread.nodes[node];
    let mut state = node.state.clone();
    state[cell] = terms.constant(value, layout.widths[cell]);
    match node.standing {
        Standing::Gone => false,
        Standing::Unborn => {
            let place = layout.slots[thread.slot].place;
            terms.as_const(state[place]) != Some(0)
        }
        Standing::At { template, location } => {
            let view = View {
                layout,
                state: &state,
                slot: thread.slot,
                template,
                timeout: Terms::FALSE,
            };
            let edges = &layout.program.templates[template].locations[location].edges;
            edges.iter().any(|edge| match view.readiness(terms, edge) {
                Readiness::Alone(condition) => condition != Terms::FALSE,
                Readiness::Offers { .. } => true,
            })
        }
    }
}

/// Events behind which every way passes one of the openers, and before which none does.
fn surely_before(events: &[Event], opening: &BTreeSet<usize>) -> Vec<usize> {
    let mut leads = vec![false; events.len()];
    let mut comes_after = vec![false; events.len()];
    for event in (0..events.len()).rev() {
        let body = &events[event];
        leads[event] = opening.contains(&event)
            || !body.may_end && !body.next.is_empty() && body.next.iter().all(|&next| leads[next]);
    }
    for (event, body) in events.iter().enumerate() {
        if opening.contains(&event) || comes_after[event] {
            body.next.iter().for_each(|&next| comes_after[next] = true);
        }
    }
    (0..events.len())
        .filter(|&event| leads[event] && !comes_after[event])
        .collect()
}

/// An event and all those that come only after it.
fn surely_after(events: &[Event], waiting: usize) -> Vec<usize> {
    let mut reached = vec![false; events.len()];
    for (event, body) in events.iter().enumerate() {
        reached[event] |= body.may_begin;
        if event == waiting {
            reached[event] = false;
        }
        if reached[event] {
            body.next.iter().for_each(|&next| reached[next] = true);
        }
    }
    let mut after = vec![false; events.len()];
    after[waiting] = true;
    for (event, body) in events.iter().enumerate() {
        if after[event] {
            body.next.iter().for_each(|&next| after[next] = true);
        }
    }
    (0..events.len())
        .filter(|&event| after[event] && !reached[event])
        .collect()
}

/// Whether program order and the order found fit together.
fn is_acyclic(threads: &[Vec<Event>], ordered: &[(Id, Id)]) -> bool {
    let mut follows: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    let mut waits_for: BTreeMap<Id, usize> = BTreeMap::new();
    let mut edges: BTreeSet<(Id, Id)> = ordered.iter().copied().collect();
    for (thread, events) in threads.iter().enumerate() {
        for (event, body) in events.iter().enumerate() {
            waits_for.insert(Id { thread, event }, 0);
            for &next in &body.next {
                let next = Id {
                    thread,
                    event: next,
                };
                edges.insert((Id { thread, event }, next));
            }
        }
    }
    for &(from, to) in &edges {
        follows.entry(from).or_default().push(to);
        *waits_for.entry(to).or_insert(0) += 1;
    }
    let mut free: Vec<Id> = waits_for
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(id, _)| *id)
        .collect();
    let mut done = 0;
    while let Some(id) = free.pop() {
        done += 1;
        for next in follows.remove(&id).unwrap_or_default() {
            if let Some(count) = waits_for.get_mut(&next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    done == waits_for.len()
}
