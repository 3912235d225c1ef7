//! The program as seen by a few threads among any number.
//!
//! A *configuration* has shared memory, the threads that are there from the start (the *fixed*
//! ones, in C `main`), and any number of created threads. A *view* is shared memory, the fixed
//! threads and k created ones, or fewer: an empty position is `none`. An invariant speaks about
//! views; it holds in a configuration if it holds in every view of it.
//!
//! The formula has k + 1 created threads: those of the view after a step, and the one that makes
//! the step. All other threads are forgotten. That is enough, because a step depends on shared
//! memory and on its own thread only ([`super::rules`]). In this one relation are the thread's own
//! steps, those of the fixed threads, creation beside running threads (the new thread takes a free
//! position), and interference by a thread that satisfies the same invariant.
//!
//! **Identities.** Owners of locks, the turn, and the *changers* are thread numbers. A number is
//! meaningful only as "this thread of the view", "that fixed thread" or "nobody"; observables say
//! nothing else, so the numbers of forgotten threads need no names.
//!
//! **Changers.** For each shared scalar a history variable says which thread last changed its
//! value. It influences nothing, so it can be added to every program. With it, one thread per view
//! proves mutual exclusion by hand-made locks: who is inside has changed the lock last.

use mover_engine::EngineError;
use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::program::{BoundKind, Effect, Template};
use rustc_hash::{FxHashMap, FxHashSet};

use super::rules::Rules;
use crate::blocks::{Blocks, Inputs};
use crate::layout::{Cell, Turn, bits_for};
use crate::machine::View;
use crate::outcome::Question;
use crate::term::{Node, Term, Terms, Var};

/// Which thread an observable is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    Nobody,
    /// The thread in a fixed slot.
    Fixed(usize),
    /// The thread in a position of the view.
    Position(usize),
}

/// Something true or false of a view.
#[derive(Clone, PartialEq, Debug)]
pub enum Observable {
    /// A bit of shared memory or of a fixed thread.
    Shared {
        cell: usize,
        bit: u8,
    },
    /// A bit of a thread of the view: by its position, and the number of the cell in its slot.
    Own {
        position: usize,
        cell: usize,
        bit: u8,
    },
    /// Whether a thread of the view stands at a place; 0 is that there is none.
    At {
        position: usize,
        place: u64,
    },
    /// Whether only this thread may move.
    Turn {
        who: Who,
        kind: usize,
    },
    /// Whether an owner is this constant.
    OwnerIs {
        cell: usize,
        value: u64,
    },
    Owner {
        cell: usize,
        who: Who,
    },
    /// Whether the cell with this number among the changers was changed last by this thread.
    Changer {
        number: usize,
        who: Who,
    },
    /// A comparison of the program, by its number.
    Comparison {
        number: usize,
        who: Who,
    },
}

/// Which thread stands in each position: a slot, or none.
pub type Seats = Vec<Option<usize>>;

pub struct Views<'a, 'p> {
    pub blocks: &'a Blocks<'p>,
    rules: &'a Rules,
    pub terms: Terms,
    pub now: Vec<Term>,
    pub next: Vec<Term>,
    /// The cells with a changer.
    pub(super) changed: Vec<usize>,
    changers_now: Vec<Term>,
    changers_next: Vec<Term>,
    pub inputs: Vec<Term>,
    /// The slot that moves.
    who: Term,
    /// That there is a step within what is encoded.
    pub possible: Term,
    /// That the state is bad, or a step leaves what is encoded.
    pub bad: Term,
    /// What holds of every state by the meaning of its cells.
    pub domain: Term,
    pub observables: Vec<Observable>,
    /// The comparisons of the program, each with its template.
    pub(super) comparisons: Vec<(usize, Expr)>,
    pub(super) fixed: usize,
    pub width: usize,
}

/// Bits of a number that is not wide.
const NARROW: u8 = 3;
/// Comparisons of one template, at most.
const MOST_COMPARISONS: usize = 80;
/// Parts of a comparison, at most.
const LARGEST: usize = 24;
/// How many steps earlier conditions are looked for that imply comparisons.
const EARLIER: usize = 2;
/// Globals with a changer, at most.
const MOST_CHANGERS: usize = 24;

impl<'a, 'p> Views<'a, 'p> {
    /// Nothing if a limit was reached.
    pub fn new(
        blocks: &'a Blocks<'p>,
        rules: &'a Rules,
        question: &Question,
        width: usize,
    ) -> Result<Option<Self>, EngineError> {
        let layout = &blocks.layout;
        let fixed = layout.program.initial.len();
        let slots = layout.slots.len();
        if slots != fixed + width + 1 {
            return refused("the number of its threads is known".into());
        }
        for slot in fixed..slots {
            let same = cells_of(layout, slot).len() == cells_of(layout, fixed).len()
                && layout.slots[slot].places == layout.slots[fixed].places;
            if !same {
                return refused("threads differ by their numbers".into());
            }
        }
        let mut terms = Terms::new();
        let now: Vec<Term> = (0..layout.widths.len())
            .map(|cell| terms.variable(layout.name(cell), layout.widths[cell]))
            .collect();
        let mut inputs = Inputs::new("");
        let block = blocks.block(&mut terms, &now, &mut inputs);
        if block.is_cut {
            return Ok(None);
        }
        let mut views = Views {
            blocks,
            rules,
            next: block.next.clone(),
            changed: Vec::new(),
            changers_now: Vec::new(),
            changers_next: Vec::new(),
            inputs: inputs.all,
            who: block.who,
            possible: block.possible,
            bad: Terms::FALSE,
            domain: Terms::TRUE,
            observables: Vec::new(),
            comparisons: Vec::new(),
            fixed,
            width,
            terms,
            now,
        };
        views.limits(question);
        let cells = views.influential();
        views.add_changers(&cells, block.who);
        views.observe_all(&cells);
        Ok(Some(views))
    }

    /// What is bad, and what is a step within the encoding.
    fn limits(&mut self, question: &Question) {
        let layout = &self.blocks.layout;
        let terms = &mut self.terms;
        let question = Question {
            deadlocks: false,
            ..question.clone()
        };
        let error = crate::bad(self.blocks, &question, terms, &self.now);
        // Any number of threads is what this is about; other bounds are ends without an answer.
        let bound = self
            .blocks
            .meets_bound(terms, &self.now, |_, kind| kind != BoundKind::Threads);
        let is_beyond = self.blocks.beyond(terms, &self.next);
        // If all positions are taken, the same step from a state with a free one counts.
        let mut has_room = Terms::FALSE;
        for slot in self.fixed..layout.slots.len() {
            let free = terms.equals(self.now[layout.slots[slot].place], 0);
            has_room = terms.or(has_room, free);
        }
        let mut leaves = terms.and(is_beyond, has_room);
        // A created thread must not take the slot of a fixed one that has gone.
        for slot in 0..self.fixed {
            let place = layout.slots[slot].place;
            let gone = terms.equals(self.now[place], 0);
            let still = terms.equals(self.next[place], 0);
            let back = terms.not(still);
            let taken = terms.and(gone, back);
            leaves = terms.or(leaves, taken);
        }
        let leaves = terms.and(self.possible, leaves);
        let bad = terms.or(error, bound);
        self.bad = terms.or(bad, leaves);
        let within = terms.not(is_beyond);
        self.possible = terms.and(self.possible, within);
        let mut all = Vec::new();
        for slot in &layout.slots {
            let width = terms.width(self.now[slot.place]);
            if slot.places < 1 << width {
                let most = terms.constant(slot.places, width);
                all.push(terms.ult(self.now[slot.place], most));
            }
        }
        // A fixed slot holds its first thread or none; anything else is bad.
        for (slot, instance) in layout.program.initial.iter().enumerate() {
            let template = instance.template.index();
            if let Some(resident) = &layout.slots[slot].residents[template] {
                let place = self.now[layout.slots[slot].place];
                let width = terms.width(place);
                let count = layout.program.templates[template].locations.len() as u64;
                let first = terms.constant(resident.first_place, width);
                let offset = terms.sub(place, first);
                let count = terms.constant(count, width);
                let at_home = terms.ult(offset, count);
                let gone = terms.equals(place, 0);
                all.push(terms.or(at_home, gone));
            }
        }
        let turn = self.now[layout.turn];
        let width = terms.width(turn);
        let beyond = terms.constant(layout.turn_value(Turn::Beyond), width);
        all.push(terms.ult(turn, beyond));
        self.domain = terms.all(all);
    }

    fn eval(&mut self, state: &[Term], slot: usize, template: usize, expr: &Expr) -> Term {
        let view = View {
            layout: &self.blocks.layout,
            state,
            slot,
            template,
            timeout: Terms::FALSE,
        };
        view.eval(&mut self.terms, expr)
    }

    /// The cells that decide, now or later, whether a state is bad or a step possible.
    fn influential(&self) -> FxHashSet<usize> {
        let cell_of: FxHashMap<Var, usize> = self
            .now
            .iter()
            .enumerate()
            .filter_map(|(cell, &term)| Some((self.terms.as_var(term)?, cell)))
            .collect();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut cells: FxHashSet<usize> = FxHashSet::default();
        let mut work = vec![self.bad, self.possible];
        while let Some(term) = work.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let Node::Var(var) = self.terms.node(term)
                && let Some(&cell) = cell_of.get(&var)
                && cells.insert(cell)
            {
                work.push(self.next[cell]);
            }
            self.terms.children(term, |child| work.push(child));
        }
        cells
    }

    /// Whether an invariant may speak about the bits of a cell.
    fn is_plain(&self, cell: usize) -> bool {
        match self.blocks.layout.cells[cell] {
            Cell::Global { variable, .. } => !self.rules.is_owner(None, variable),
            Cell::Turn => false,
            _ => true,
        }
    }

    fn add_changers(&mut self, cells: &FxHashSet<usize>, who: Term) {
        let layout = &self.blocks.layout;
        let slots = layout.slots.len() as u64;
        let width = bits_for(slots + 2);
        for (cell, kind) in layout.cells.iter().enumerate() {
            let Cell::Global { variable, .. } = *kind else {
                continue;
            };
            let is_scalar = layout.program.globals[variable].len == 1;
            if !is_scalar
                || !self.is_plain(cell)
                || !cells.contains(&cell)
                || self.changed.len() >= MOST_CHANGERS
            {
                continue;
            }
            let terms = &mut self.terms;
            let name = format!("changer of {}", layout.name(cell));
            let changer = terms.variable(name, width);
            let same = terms.eq(self.now[cell], self.next[cell]);
            let who = terms.resize(who, width, false);
            let one = terms.constant(1, width);
            let mover = terms.add(who, one);
            let next = terms.ite(same, changer, mover);
            // 0 is nobody, the last value a forgotten thread.
            let most = terms.constant(slots + 2, width);
            let mut all = vec![self.domain];
            if slots + 2 < 1 << width {
                all.push(terms.ult(changer, most));
            }
            for slot in self.fixed..layout.slots.len() {
                let free = terms.equals(self.now[layout.slots[slot].place], 0);
                let it = terms.equals(changer, slot as u64 + 1);
                let both = terms.and(free, it);
                all.push(terms.not(both));
            }
            self.domain = terms.all(all);
            self.changed.push(cell);
            self.changers_now.push(changer);
            self.changers_next.push(next);
        }
    }

    fn observe_all(&mut self, cells: &FxHashSet<usize>) {
        let layout = &self.blocks.layout;
        let fixed_cells: Vec<Vec<usize>> = (0..layout.slots.len())
            .map(|slot| cells_of(layout, slot))
            .collect();
        let created: FxHashSet<usize> = fixed_cells[self.fixed..]
            .iter()
            .flatten()
            .copied()
            .collect();
        let whos: Vec<Who> = (0..self.fixed)
            .map(Who::Fixed)
            .chain((0..self.width).map(Who::Position))
            .collect();
        let mut all = Vec::new();
        for cell in 0..layout.cells.len() {
            if created.contains(&cell) || !cells.contains(&cell) {
                continue;
            }
            // Of the other templates that a fixed slot could hold nothing is said.
            if let Cell::Local { slot, template, .. } = layout.cells[cell]
                && layout.program.initial[slot].template.index() != template
            {
                continue;
            }
            if let Cell::Global { variable, .. } = layout.cells[cell]
                && let Some(owner) = self.rules.owners.get(&variable)
            {
                let constants = owner.constants.iter();
                all.extend(constants.map(|&value| Observable::OwnerIs { cell, value }));
                all.extend(whos.iter().map(|&who| Observable::Owner { cell, who }));
            } else if self.is_plain(cell) {
                let bits = 0..layout.widths[cell];
                all.extend(bits.map(|bit| Observable::Shared { cell, bit }));
            }
        }
        for position in 0..self.width {
            for (number, &cell) in fixed_cells[self.fixed].iter().enumerate() {
                let is_used = (self.fixed..layout.slots.len())
                    .any(|slot| cells.contains(&fixed_cells[slot][number]));
                if let Cell::Place { slot } = layout.cells[cell] {
                    let places = 0..layout.slots[slot].places;
                    all.extend(places.map(|place| Observable::At { position, place }));
                    continue;
                }
                if is_used && self.is_plain(cell) {
                    let bits = 0..layout.widths[cell];
                    all.extend(bits.map(|bit| Observable::Own {
                        position,
                        cell: number,
                        bit,
                    }));
                }
            }
        }
        all.push(Observable::Turn {
            who: Who::Nobody,
            kind: 0,
        });
        for &who in &whos {
            all.extend((0..3).map(|kind| Observable::Turn { who, kind }));
        }
        for number in 0..self.changed.len() {
            all.push(Observable::Changer {
                number,
                who: Who::Nobody,
            });
            all.extend(whos.iter().map(|&who| Observable::Changer { number, who }));
        }
        self.find_comparisons();
        let mut known: FxHashSet<Term> = FxHashSet::default();
        for number in 0..self.comparisons.len() {
            let (template, expr) = self.comparisons[number].clone();
            for &who in &whos {
                let slot = match who {
                    Who::Fixed(slot) => slot,
                    _ => self.fixed,
                };
                // A created thread never takes the slot of a fixed one.
                let is_home = match who {
                    Who::Fixed(slot) => layout.program.initial[slot].template.index() == template,
                    _ => layout.slots[slot].residents[template].is_some(),
                };
                if !is_home {
                    continue;
                }
                let slot = match who {
                    Who::Position(position) => self.fixed + position,
                    _ => slot,
                };
                let term = self.eval(&self.now.clone(), slot, template, &expr);
                let positive = match self.terms.node(term) {
                    Node::Not(inner) => inner,
                    _ => term,
                };
                if self.terms.as_const(positive).is_none() && known.insert(positive) {
                    all.push(Observable::Comparison { number, who });
                }
            }
        }
        self.observables = all;
    }

    /// The comparisons that the program makes, as far as an invariant may make them.
    fn find_comparisons(&mut self) {
        let program = self.blocks.layout.program;
        for (template, body) in program.templates.iter().enumerate() {
            let mut found: Vec<&Expr> = Vec::new();
            for edge in body.locations.iter().flat_map(|location| &location.edges) {
                crate::system::collect(&edge.guard, &mut found);
                for effect in &edge.effects {
                    if let Effect::Assign { value, .. } = effect {
                        crate::system::collect(value, &mut found);
                    }
                }
            }
            let mut open: Vec<Expr> = found.into_iter().cloned().collect();
            open.extend(copies(body));
            let mut known: Vec<Expr> = Vec::new();
            for _ in 0..=EARLIER {
                let mut more = Vec::new();
                for comparison in std::mem::take(&mut open) {
                    if known.len() >= MOST_COMPARISONS
                        || known.contains(&comparison)
                        || !self.may_compare(template, &comparison)
                    {
                        continue;
                    }
                    more.extend(before(body, &comparison));
                    known.push(comparison);
                }
                open = more;
            }
            let all = known.into_iter().map(|comparison| (template, comparison));
            self.comparisons.extend(all);
        }
    }

    fn may_compare(&self, template: usize, comparison: &Expr) -> bool {
        let mut may = comparison.as_const().is_none();
        let mut size = 0;
        comparison.walk(&mut |part| {
            size += 1;
            match part {
                Expr::ThreadId => may = false,
                // Too hard for the solver to be asked about everywhere.
                Expr::Binary(op, a, _) if a.width() > NARROW && is_hard(*op) => may = false,
                Expr::Read(place) => {
                    let (of, number) = match place.variable {
                        VariableRef::Global(id) => (None, id.index()),
                        VariableRef::Local(id) => (Some(template), id.index()),
                    };
                    may &= !self.rules.is_owner(of, number);
                }
                _ => {}
            }
        });
        may && size <= LARGEST
    }

    /// The slots of created threads.
    pub fn created(&self) -> std::ops::Range<usize> {
        self.fixed..self.blocks.layout.slots.len()
    }

    /// That the thread in a slot makes the step.
    pub fn moves(&mut self, slot: usize) -> Term {
        self.terms.equals(self.who, slot as u64)
    }

    /// That the step creates a thread.
    pub fn creates(&mut self) -> Term {
        let mut any = Terms::FALSE;
        for slot in self.created() {
            let place = self.blocks.layout.slots[slot].place;
            let before = self.terms.equals(self.now[place], 0);
            let after = self.terms.equals(self.next[place], 0);
            let there = self.terms.not(after);
            let made = self.terms.and(before, there);
            any = self.terms.or(any, made);
        }
        any
    }

    /// All ways to seat threads of these slots, or none, in the positions of a view.
    pub fn seatings(&self, slots: std::ops::Range<usize>) -> Vec<Seats> {
        let mut all: Vec<Seats> = vec![Vec::new()];
        for _ in 0..self.width {
            let mut longer = Vec::new();
            for seats in &all {
                for slot in slots.clone().map(Some).chain([None]) {
                    if slot.is_none() || !seats.contains(&slot) {
                        let mut seats = seats.clone();
                        seats.push(slot);
                        longer.push(seats);
                    }
                }
            }
            all = longer;
        }
        all
    }

    /// The observables of a view of the state now or next: a term and a bit of it each.
    pub fn observe(&mut self, is_next: bool, seats: &Seats) -> Vec<(Term, u8)> {
        let layout = &self.blocks.layout;
        let (state, changers) = if is_next {
            (self.next.clone(), self.changers_next.clone())
        } else {
            (self.now.clone(), self.changers_now.clone())
        };
        // An empty position looks like a slot without a thread.
        let mut state = state;
        let empty = self.created().find(|&slot| !seats.contains(&Some(slot)));
        if let Some(empty) = empty
            && seats.contains(&None)
        {
            for cell in cells_of(layout, empty) {
                state[cell] = self.terms.constant(0, layout.widths[cell]);
            }
        }
        let fixed = self.fixed;
        let seat = |position: usize| seats[position].or(empty).unwrap_or(fixed);
        let slot_of = |who: Who| match who {
            Who::Nobody => None,
            Who::Fixed(slot) => Some(slot),
            Who::Position(position) => Some(seat(position)),
        };
        let mut all = Vec::new();
        for observable in &self.observables.clone() {
            let terms = &mut self.terms;
            // A thread that is not there owns nothing.
            let there = |terms: &mut Terms, who: Who| match who {
                Who::Position(position) => {
                    let gone = terms.equals(state[layout.slots[seat(position)].place], 0);
                    terms.not(gone)
                }
                _ => Terms::TRUE,
            };
            all.push(match *observable {
                Observable::Shared { cell, bit } => (state[cell], bit),
                Observable::Own {
                    position,
                    cell,
                    bit,
                } => (state[cells_of(layout, seat(position))[cell]], bit),
                Observable::At { position, place } => {
                    let cell = layout.slots[seat(position)].place;
                    (terms.equals(state[cell], place), 0)
                }
                Observable::Turn { who, kind } => {
                    let turn = match slot_of(who) {
                        None => Turn::Anyone,
                        Some(slot) if kind == 0 => Turn::Exclusive(slot),
                        Some(slot) => Turn::Uncommitted {
                            slot,
                            took_lock: kind == 2,
                        },
                    };
                    let it = terms.equals(state[layout.turn], layout.turn_value(turn));
                    let there = there(terms, who);
                    (terms.and(it, there), 0)
                }
                Observable::OwnerIs { cell, value } => (terms.equals(state[cell], value), 0),
                Observable::Owner { cell, who } => {
                    let there = there(terms, who);
                    let Cell::Global { variable, .. } = layout.cells[cell] else {
                        all.push((Terms::FALSE, 0));
                        continue;
                    };
                    let me = self.rules.owners[&variable].me.clone();
                    let (Some(slot), Some(me)) = (slot_of(who), me) else {
                        all.push((Terms::FALSE, 0));
                        continue;
                    };
                    let number = self.eval(&state, slot, 0, &me);
                    let it = self.terms.eq(state[cell], number);
                    (self.terms.and(it, there), 0)
                }
                Observable::Changer { number, who } => {
                    let value = slot_of(who).map_or(0, |slot| slot as u64 + 1);
                    let it = terms.equals(changers[number], value);
                    let there = there(terms, who);
                    (terms.and(it, there), 0)
                }
                Observable::Comparison { number, who } => {
                    let (template, expr) = self.comparisons[number].clone();
                    let slot = slot_of(who).unwrap_or(0);
                    (self.eval(&state, slot, template, &expr), 0)
                }
            });
        }
        all
    }

    /// The cells with a changer.
    pub fn changed_cells(&self) -> &[usize] {
        &self.changed
    }

    /// The values of the variables in a state with these changers.
    pub fn values(&self, state: &[u64], changers: &[u64]) -> FxHashMap<Var, u64> {
        let cells = self.now.iter().zip(state);
        let changers = self.changers_now.iter().zip(changers);
        cells
            .chain(changers)
            .filter_map(|(&term, &value)| Some((self.terms.as_var(term)?, value)))
            .collect()
    }

    /// The state in which the program begins, as values of the variables.
    pub fn initial(&self) -> FxHashMap<Var, u64> {
        let values = self.blocks.layout.initial();
        let cells = self.now.iter().zip(values);
        cells
            .filter_map(|(&term, value)| Some((self.terms.as_var(term)?, value)))
            .collect()
    }

    /// Whether it is a bit of a wide number.
    pub fn is_wide(&self, observable: usize) -> bool {
        let layout = &self.blocks.layout;
        let cell = match self.observables[observable] {
            Observable::Shared { cell, .. } => cell,
            Observable::Own { cell, .. } => cells_of(layout, self.fixed)[cell],
            _ => return false,
        };
        !matches!(layout.cells[cell], Cell::Place { .. }) && layout.widths[cell] > NARROW
    }

    /// Whether it says the same in all views of a state.
    pub fn is_shared(&self, observable: usize) -> bool {
        self.position(observable).is_none()
            && match self.observables[observable] {
                Observable::Comparison { .. } => false,
                Observable::Shared { cell, .. } => {
                    !matches!(self.blocks.layout.cells[cell], Cell::Place { .. })
                }
                _ => true,
            }
            || self.speaks_of_globals(observable)
    }

    /// Whether it is a comparison of shared memory only.
    fn speaks_of_globals(&self, observable: usize) -> bool {
        let Observable::Comparison { number, .. } = self.observables[observable] else {
            return false;
        };
        let mut only = true;
        self.comparisons[number].1.walk(&mut |part| {
            if let Expr::Read(place) = part {
                only &= matches!(place.variable, VariableRef::Global(_));
            }
        });
        only
    }

    /// The position that an observable is about, if it is about one.
    pub fn position(&self, observable: usize) -> Option<usize> {
        match self.observables[observable] {
            Observable::Own { position, .. } | Observable::At { position, .. } => Some(position),
            Observable::Turn { who, .. }
            | Observable::Owner { who, .. }
            | Observable::Changer { who, .. }
            | Observable::Comparison { who, .. } => match who {
                Who::Position(position) => Some(position),
                _ => None,
            },
            Observable::Shared { .. } | Observable::OwnerIs { .. } => None,
        }
    }

    /// Whether a literal may be of interest where a thread stands at a place.
    pub fn may_meet(&self, place: usize, other: usize) -> bool {
        let Observable::At { position, place } = self.observables[place] else {
            return false;
        };
        if self.position(other).is_some_and(|of| of != position) {
            return false;
        }
        let layout = &self.blocks.layout;
        let at = layout
            .standing(self.fixed, place)
            .map(|(template, _)| template.index());
        let template = match self.observables[other] {
            Observable::Comparison { number, who } => match who {
                Who::Position(_) if !self.speaks_of_globals(other) => {
                    Some(self.comparisons[number].0)
                }
                _ => None,
            },
            Observable::Own { cell, .. } => {
                match layout.cells[cells_of(layout, self.fixed)[cell]] {
                    Cell::Local { template, .. } => Some(template),
                    _ => None,
                }
            }
            _ => None,
        };
        template.is_none() || template == at
    }

    /// How much it costs to have a literal in a lemma: the bits of wide cells are dropped first.
    pub fn cost(&self, observable: usize) -> u32 {
        let layout = &self.blocks.layout;
        let bits = |cell: usize| match layout.cells[cell] {
            Cell::Place { .. } => 1,
            _ if layout.widths[cell] <= NARROW => 2,
            _ => 10 + u32::from(layout.widths[cell]),
        };
        match self.observables[observable] {
            Observable::Shared { cell, .. } => match layout.cells[cell] {
                Cell::Place { .. } => 5,
                _ => bits(cell),
            },
            Observable::Own { cell, .. } => bits(cells_of(layout, self.fixed)[cell]),
            Observable::At { .. } => 1,
            Observable::Turn { .. } => 4,
            Observable::OwnerIs { .. } | Observable::Owner { .. } => 2,
            Observable::Changer { .. } => 3,
            Observable::Comparison { .. } => 3,
        }
    }
}

pub(super) fn is_hard(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Mul | UDiv | SDiv | URem | SRem)
}

/// That a variable is what is assigned to it somewhere.
fn copies(body: &Template) -> Vec<Expr> {
    let mut found = Vec::new();
    for edge in body.locations.iter().flat_map(|location| &location.edges) {
        for effect in &edge.effects {
            if let Effect::Assign { place, value } = effect
                && place.ty.width > 1
                && value.width() == place.ty.width
            {
                let read = Expr::Read(place.clone());
                let same = Expr::Binary(BinaryOp::Eq, Box::new(read), Box::new(value.clone()));
                found.push(same);
            }
        }
    }
    found
}

/// What a comparison says before each assignment to one of its variables.
pub(super) fn before(body: &Template, comparison: &Expr) -> Vec<Expr> {
    let mut found = Vec::new();
    for edge in body.locations.iter().flat_map(|location| &location.edges) {
        for effect in &edge.effects {
            let Effect::Assign { place, value } = effect else {
                continue;
            };
            if value.width() != place.ty.width {
                continue;
            }
            let mut changed = false;
            let earlier = comparison.rewrite(&mut |part| match part {
                Expr::Read(read) if read == place => {
                    changed = true;
                    Some(value.clone())
                }
                _ => None,
            });
            if changed {
                found.push(earlier);
            }
        }
    }
    found
}

/// The cells of a slot, in an order that is the same for all slots that hold the same templates.
pub fn cells_of(layout: &crate::layout::Layout, slot: usize) -> Vec<usize> {
    let mut cells = vec![layout.slots[slot].place];
    for (template, resident) in layout.slots[slot].residents.iter().enumerate() {
        let Some(resident) = resident else { continue };
        let locals = &layout.program.templates[template].locals;
        for (variable, &first) in locals.iter().zip(&resident.locals) {
            cells.extend(first..first + variable.len as usize);
        }
    }
    cells
}

fn refused<T>(reason: String) -> Result<T, EngineError> {
    Err(EngineError::Unsupported(reason))
}
