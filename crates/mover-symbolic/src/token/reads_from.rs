//! Runs as partial orders of events: which write each read takes its value from.
//!
//! The threads of an unrolling are independent; what one reads of a shared cell at an event is a
//! free variable. Here a *reads-from* relation gives these variables their values. Alglave,
//! Kroening and Tautschnig (2013), *Partial Orders for Efficient Bounded Model Checking of
//! Concurrent Software*, encode memory so; that the order is decided by a theory inside the
//! solver instead of clauses is as in He, Sun and Fan (2021), *Satisfiability Modulo Ordering
//! Consistency Theory for Multi-Threaded Program Verification*; theirs derives from-read in the
//! theory, here it is clauses, and events are transactions. The formula grows with the accesses of
//! each cell, not with pairs of events times cells.
//!
//! **Ports** ([`ports`]). An event is a point of the order. Since events are transactions, it may
//! read and write many cells; others see only the first read and the last write of each. A read
//! port has the variable and the condition under which the event is reached; a write port has
//! the condition under which the cell is written, and its value. Reads of what the event itself
//! has written before are no ports: terms carry the value. Ports exist only where some condition
//! depends on the cell.
//!
//! **Clauses.** For each read r of a cell there is a literal rf(w, r) for every write w of that
//! cell that may come before it, and one for the initial value:
//! 1. rf(w, r) implies that w takes place, that the values agree and that w comes before r;
//! 2. if r takes place, one of its literals is true;
//! 3. *from-read*: if rf(w, r) and another write w' takes place, then w' comes before w or r
//!    before w'; with the initial value r comes before every write.
//!
//! **Order** ([`ordering`]). A literal for two points exists only where 1 or 3 ask for it, one for
//! both directions. Together with the order of each thread the edges have no cycle, which is
//! the theory's concern ([`crate::order`]). Any order of the points that fits is a schedule.
//! Sequential consistency is what the edges of a thread and clause 3 say; another memory model
//! would change these two places.
//!
//! **Runs that end anywhere.** A thread may stop at an event that can block. An event that is not
//! reached has no effect, and nothing forces a thread to continue. So there are no ghosts here
//! and a thread that waits for ever hides nothing. Loops that are cut off are a goal, not an
//! assumption.
//!
//! **The end** is a point after all others that reads whatever questions about final states need
//! (deadlocks).
//!
//! **Objects.** Each allocation of the unrolling makes an object of its own, whose cells are cells
//! like others. Reading through a pointer is a choice between the cells that it may point to
//! ([`select`]). That an object is gone is a cell, too, which `free` writes.
//!
//! Starts and ends of threads, locks, channels and compare-and-swap need nothing of their own:
//! they read and write cells, each in one event.

mod ordering;
mod ports;
mod select;

use std::collections::BTreeMap;

use mover_ir::semantics::Step;

use crate::blast::Blaster;
use crate::layout::Cell;
use crate::order::Point;
use crate::sat::Lit;
use crate::term::{Evaluation, Term, Terms};
use crate::token::events::{event_nodes, waits};
use crate::token::goals::Goals;
use crate::token::unroll::{Unrolled, Unroller};
use crate::token::words::{MadeOf, Words, words};

use ordering::Ordering;
use ports::{OfCell, Ports, Read, Select, Write};

/// A part of the encoding that tests leave out to see that it is noticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// A write that is read takes place.
    WriteTakesPlace,
    /// A write that is read comes before.
    WriteComesFirst,
    /// No other write comes between.
    FromRead,
    /// No write comes before a read of the initial value.
    FromReadOfInitial,
    /// Writes count only if they take place.
    FromReadOfEnabled,
    /// The order has no cycle.
    NoCycle,
}

pub struct ReadsFrom<'e, 'p> {
    unroller: &'e Unroller<'p>,
    pub unrolled: Unrolled,
    /// All free variables.
    inputs: Vec<Term>,
    /// The shared cells at the end.
    finals: Vec<Term>,
    ordering: Ordering,
    /// Reads of one cell among many.
    selects: Vec<Select>,
    /// Literals that say where a read takes its value from.
    pub choices: u64,
    without: Option<Rule>,
}

impl<'e, 'p> ReadsFrom<'e, 'p> {
    /// The encoding, possibly without one of its rules.
    pub fn new(
        unroller: &'e Unroller<'p>,
        unrolled: Unrolled,
        terms: &mut Terms,
        without: Option<Rule>,
    ) -> Self {
        let layout = unroller.layout;
        let finals: Vec<Term> = unrolled
            .shared
            .iter()
            .map(|&cell| terms.variable(format!("{} end", layout.name(cell)), layout.widths[cell]))
            .collect();
        let mut inputs = unrolled.inputs.clone();
        inputs.extend(&finals);
        let is_alone = layout.program.initial.len() == 1;
        let waits = waits(unroller, &unrolled, terms, &event_nodes(&unrolled));
        ReadsFrom {
            unroller,
            ordering: Ordering::new(&unrolled, &waits, is_alone),
            unrolled,
            inputs,
            finals,
            selects: Vec::new(),
            choices: 0,
            without,
        }
    }

    fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    pub fn goals(&self) -> Goals<'_, 'p> {
        Goals {
            unroller: self.unroller,
            unrolled: &self.unrolled,
            values: self.finals.clone(),
        }
    }

    /// Asserts where values come from, as far as the conditions of all steps and those given
    /// depend on them.
    pub fn assert(&mut self, terms: &mut Terms, blaster: &mut Blaster, asked: &[Term]) {
        let initial = self.unroller.layout.initial();
        let mut asked = asked.to_vec();
        asked.extend(&self.unrolled.assumptions);
        let ports = Ports::new(
            self.unroller,
            &self.unrolled,
            &self.ordering,
            &self.finals,
            terms,
            &asked,
        );
        if self.has(Rule::NoCycle) {
            self.ordering.assert_threads(&mut blaster.solver);
        }
        // What they are is said by clauses of their own.
        for select in &ports.selects {
            blaster.release(terms, select.value);
        }
        for &assumption in &self.unrolled.assumptions {
            blaster.assert(terms, assumption);
        }
        let initial: Vec<Term> = self
            .unrolled
            .shared
            .iter()
            .map(|&cell| terms.constant(initial[cell], self.unroller.layout.widths[cell]))
            .collect();
        // Which threads begin comes first: all of a thread that does not can be left out.
        let is_place = |&position: &usize| {
            let cell = self.unrolled.shared[position];
            matches!(self.unroller.layout.cells[cell], Cell::Place { .. })
        };
        let positions = 0..ports.cells.len();
        let (places, rest): (Vec<usize>, Vec<usize>) = positions.partition(is_place);
        for &position in &places {
            self.reads(terms, blaster, &ports.cells[position], initial[position]);
        }
        blaster.solver.settle();
        for select in &ports.selects {
            if blaster.solver.is_over() {
                blaster.solver.give_up();
                return;
            }
            self.select(terms, blaster, select, &ports.cells, &initial);
        }
        for &position in &rest {
            self.reads(terms, blaster, &ports.cells[position], initial[position]);
        }
        self.selects = ports.selects;
    }

    fn reads(&mut self, terms: &Terms, blaster: &mut Blaster, cell: &OfCell, initial: Term) {
        for read in &cell.reads {
            if blaster.solver.is_over() {
                blaster.solver.give_up();
                return;
            }
            self.read(terms, blaster, read, &cell.writes, initial);
        }
    }

    /// The clauses of one read.
    fn read(
        &mut self,
        terms: &Terms,
        blaster: &mut Blaster,
        read: &Read,
        writes: &[Write],
        initial: Term,
    ) {
        let reached = blaster.lit(terms, read.guard);
        if blaster.solver.is_never(reached) {
            return;
        }
        // Writes that can be enabled together with the read.
        let others: Vec<&Write> = writes
            .iter()
            .filter(|write| {
                let takes_place = blaster.lit(terms, write.guard);
                write.point != read.point
                    && !self.ordering.excludes(write.point, read.point)
                    && !blaster.solver.is_never(takes_place)
            })
            .collect();
        // What was written for sure hides what was before.
        let hiding: Vec<Point> = others
            .iter()
            .filter(|write| {
                write.is_certain && self.ordering.is_sure(write.point, read.point)
                    || write.is_passed && self.ordering.is_done(write.point, read.point)
            })
            .map(|write| write.point)
            .collect();
        let is_candidate = |ordering: &Ordering, write: &Write| {
            !ordering.comes_first(read.point, write.point)
                && !hiding
                    .iter()
                    .any(|&hiding| ordering.comes_first(write.point, hiding))
        };
        let mut sources: Vec<(Option<&Write>, Vec<Lit>)> = Vec::new();
        for write in &others {
            if is_candidate(&self.ordering, write) {
                let bits = blaster.bits(terms, write.value).to_vec();
                sources.push((Some(write), bits));
            }
        }
        if hiding.is_empty() {
            sources.push((None, blaster.bits(terms, initial).to_vec()));
        }
        let value = blaster.bits(terms, read.value).to_vec();
        // Bits that are the same wherever the value comes from.
        let same: Vec<bool> = (0..value.len())
            .map(|bit| sources.windows(2).all(|two| two[0].1[bit] == two[1].1[bit]))
            .collect();
        if let Some((_, bits)) = sources.first() {
            for bit in (0..value.len()).filter(|&bit| same[bit]) {
                // Not in any case: values of events that are not reached may depend on each other
                // in a circle.
                equal(blaster, &[reached], value[bit], bits[bit]);
            }
        }
        let mut some = vec![!reached];
        let is_only = sources.len() == 1;
        for (source, bits) in &sources {
            let from = match is_only {
                true => reached,
                false => blaster.solver.new_lit(),
            };
            self.choices += 1;
            some.push(from);
            for bit in (0..value.len()).filter(|&bit| !same[bit]) {
                equal(blaster, &[from], value[bit], bits[bit]);
            }
            if let Some(write) = source {
                if self.has(Rule::WriteTakesPlace) {
                    let takes_place = blaster.lit(terms, write.guard);
                    blaster.solver.add(&[!from, takes_place]);
                }
                if self.has(Rule::WriteComesFirst) {
                    self.demand(blaster, &[!from], &[(write.point, read.point)]);
                }
            }
            self.assert_from_read(terms, blaster, from, read, *source, &others);
        }
        if !is_only {
            blaster.solver.add(&some);
        }
    }

    /// No other write comes between a write and a read of it.
    fn assert_from_read(
        &mut self,
        terms: &Terms,
        blaster: &mut Blaster,
        from: Lit,
        read: &Read,
        source: Option<&Write>,
        others: &[&Write],
    ) {
        let rule = match source {
            Some(_) => Rule::FromRead,
            None => Rule::FromReadOfInitial,
        };
        if !self.has(rule) {
            return;
        }
        for other in others {
            let mut alternatives = vec![(read.point, other.point)];
            if let Some(source) = source {
                if source.point == other.point || self.ordering.excludes(source.point, other.point)
                {
                    continue;
                }
                alternatives.push((other.point, source.point));
            }
            let mut clause = vec![!from];
            if self.has(Rule::FromReadOfEnabled) {
                clause.push(!blaster.lit(terms, other.guard));
            }
            self.demand(blaster, &clause, &alternatives);
        }
    }

    /// Adds a clause with one of some orders as last literals.
    fn demand(&mut self, blaster: &mut Blaster, clause: &[Lit], orders: &[(Point, Point)]) {
        if orders.iter().any(|&(a, b)| self.ordering.comes_first(a, b)) {
            return;
        }
        let mut clause = clause.to_vec();
        let has_edges = self.has(Rule::NoCycle);
        for &(a, b) in orders {
            if !self.ordering.comes_first(b, a) {
                clause.push(self.ordering.literal(&mut blaster.solver, a, b, has_edges));
            }
        }
        blaster.solver.add(&clause);
    }

    /// Points of the order.
    pub fn events(&self) -> u64 {
        self.ordering.events() as u64
    }

    /// The steps of the run that the solver found: the events in an order that fits.
    pub fn steps(&self, terms: &Terms, blaster: &Blaster, made_of: &MadeOf) -> Vec<Step> {
        let mut values = blaster.assignment(terms, self.inputs.iter().copied());
        for select in &self.selects {
            let is_it = |(condition, _): &(Term, usize)| blaster.value(*condition) == Some(1);
            if let Some(case) = select.cases.iter().position(is_it)
                && let Some(variable) = terms.as_var(select.variables[case])
                && let Some(value) = blaster.value(select.value)
            {
                values.insert(variable, value);
            }
        }
        let value = |var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(terms, &value);
        let Words {
            before: mut steps,
            of_events,
        } = words(&self.unrolled, &mut evaluation, made_of);
        let mut of_points: BTreeMap<Point, Vec<Step>> = BTreeMap::new();
        for (thread, events) in of_events.into_iter().enumerate() {
            for (event, word) in events {
                of_points.insert(self.ordering.point(thread, event), word);
            }
        }
        for point in self.ordering.sorted(&blaster.solver) {
            steps.extend(of_points.remove(&point).unwrap_or_default());
        }
        steps
    }
}

/// Two literals are equal, if all conditions hold.
fn equal(blaster: &mut Blaster, conditions: &[Lit], a: Lit, b: Lit) {
    if a == b {
        return;
    }
    for (one, other) in [(a, !b), (!a, b)] {
        let mut clause = vec![one, other];
        clause.extend(conditions.iter().map(|&condition| !condition));
        blaster.solver.add(&clause);
    }
}

#[cfg(test)]
mod tests;
