//! What may be said at a context.
//!
//! A fact is a truth about the cells of a context, made of predicates: a number is a constant or
//! below one, two numbers are equal or one is less, an owner is a given thread, a shared scalar was
//! last changed by a given thread (see [`super::super::views`] for these changers), and the
//! comparisons that the program makes. Which numbers are compared with which follows from the
//! program: those that it brings together in one comparison or assignment, and those that it brings
//! together with the same third one. Of local variables only those count that are live.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, Ty, VariableRef, mask};
use mover_ir::program::{Effect, Init, Program, Template};

use super::control::{Context, Spot, Ways, view};
use crate::modular::handles::live_variables;
use crate::modular::rules::Rules;
use crate::modular::views::{before, is_hard};
use crate::term::{Term, Terms};

/// A thread of a context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Who {
    Fixed(usize),
    Seat(usize),
}

/// A scalar of a context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Operand {
    /// A global variable.
    Shared(usize),
    Own {
        who: Who,
        template: usize,
        variable: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Predicate {
    Bit(Operand, u8),
    Equals(Operand, u64),
    Below {
        number: Operand,
        bound: u64,
        signed: bool,
    },
    Same(Operand, Operand),
    Less {
        less: Operand,
        than: Operand,
        signed: bool,
    },
    /// The global variable is the number of this thread.
    Mine {
        variable: usize,
        who: Who,
    },
    /// The global variable was last changed by this thread.
    Changed {
        number: usize,
        who: Who,
    },
    /// A comparison of the program, by its number.
    Compared {
        who: Who,
        number: usize,
    },
}

impl Predicate {
    /// The number that it is about, if it is about one only.
    fn number(self) -> Option<Operand> {
        match self {
            Predicate::Bit(number, _)
            | Predicate::Equals(number, _)
            | Predicate::Below { number, .. } => Some(number),
            _ => None,
        }
    }

    /// Whether it decides the other one if it holds: both are about one number, and it says which.
    pub fn decides(self, other: Predicate) -> bool {
        matches!(self, Predicate::Equals(..)) && self.number() == other.number()
    }
}

/// A variable of the program or of a template.
type Named = (Option<usize>, usize);

/// What is known of the program's variables.
#[derive(Default)]
pub struct Pool {
    /// Those brought together, directly or by a third one.
    related: BTreeMap<Named, BTreeSet<Named>>,
    equal_to: BTreeMap<Named, BTreeSet<u64>>,
    below: BTreeMap<Named, BTreeSet<u64>>,
    /// Only ever assigned constants.
    flags: BTreeSet<Named>,
    /// By template and location: the live local variables.
    live: Vec<Vec<BTreeSet<usize>>>,
    pub comparisons: Vec<(usize, Expr)>,
    /// Global scalars, without owners.
    shared: Vec<usize>,
    owners: Vec<(usize, Vec<u64>)>,
    /// Global variables with a changer.
    pub changed: Vec<usize>,
    /// Whether any equality with a constant may be a guard, not only those of flags.
    pub many_guards: bool,
}

const NARROW: u8 = 3;
const MOST_EQUAL: usize = 8;
const MOST_BELOW: usize = 12;
const MOST_COMPARISONS: usize = 24;
const MOST_CHANGED: usize = 8;
const MOST_GUARDS: usize = 12;
const LARGEST: usize = 24;

impl Pool {
    /// None if a thread's variables have addresses.
    pub fn new(program: &Program, rules: &Rules) -> Option<Pool> {
        let mut pool = Pool::default();
        for (number, variable) in program.globals.iter().enumerate() {
            if let Some(owner) = rules.owners.get(&number) {
                if variable.len != 1 {
                    return None;
                }
                let constants = owner.constants.iter().copied();
                pool.owners.push((number, constants.collect()));
            } else if variable.len == 1 {
                pool.shared.push(number);
                if let Init::All(value) = &variable.init {
                    pool.note_equal((None, number), *value, variable.ty);
                }
                if let Init::Cells(values) = &variable.init {
                    pool.note_equal((None, number), values[0], variable.ty);
                }
            }
        }
        let mut assigned: BTreeMap<Named, bool> = BTreeMap::new();
        let mut read: BTreeSet<usize> = BTreeSet::new();
        let mut note_read = |part: &Expr| {
            if let Expr::Read(place) = part
                && let VariableRef::Global(id) = place.variable
            {
                read.insert(id.index());
            }
        };
        for (template, body) in program.templates.iter().enumerate() {
            if body.locals.iter().any(|local| local.addressable) {
                return None;
            }
            for edge in body.locations.iter().flat_map(|location| &location.edges) {
                pool.note_comparisons(template, &edge.guard);
                edge.guard.walk(&mut note_read);
                for effect in &edge.effects {
                    effect.walk(&mut |part| pool.note_comparison(template, part));
                    effect.walk(&mut note_read);
                    for place in effect.written_places() {
                        let name = named(place.variable, template);
                        let value = match effect {
                            Effect::Assign { value, .. } => Some(value),
                            _ => None,
                        };
                        let constant = value.is_some_and(is_choice_of_constants);
                        let all = assigned.entry(name).or_insert(true);
                        *all &= constant;
                        if let Some(value) = value {
                            pool.note_assigned(template, name, value, place.ty);
                        }
                    }
                }
            }
            pool.live.push(live_variables(body));
            pool.find_comparisons(template, body, rules);
        }
        // Of handles that were dropped nothing is left to be said.
        pool.shared
            .retain(|number| program.globals[*number].addressable || read.contains(number));
        pool.flags = assigned
            .into_iter()
            .filter_map(|(name, all)| all.then_some(name))
            .collect();
        pool.close();
        let mut changed: Vec<usize> = pool.shared.clone();
        changed.retain(|&number| pool.flags.contains(&(None, number)));
        changed.truncate(MOST_CHANGED);
        pool.changed = changed;
        Some(pool)
    }

    fn note_equal(&mut self, name: Named, value: u64, ty: Ty) {
        let all = self.equal_to.entry(name).or_default();
        if all.len() < MOST_EQUAL {
            all.insert(value & mask(ty.width));
        }
    }

    fn note_below(&mut self, name: Named, value: u64, width: u8) {
        let all = self.below.entry(name).or_default();
        // One more and one less, for comparisons with and without equality.
        for near in [0, 1, 2, mask(width)] {
            if all.len() < MOST_BELOW {
                all.insert(value.wrapping_add(near) & mask(width));
            }
        }
    }

    fn note_comparisons(&mut self, template: usize, expr: &Expr) {
        expr.walk(&mut |part| self.note_comparison(template, part));
    }

    fn note_comparison(&mut self, template: usize, part: &Expr) {
        let Expr::Binary(op, a, b) = part else { return };
        if !op.is_comparison() || a.width() <= NARROW {
            return;
        }
        let reads = scalars(part, template);
        self.relate(&reads);
        let is_order = !matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        for (one, other) in [(a, b), (b, a)] {
            let Some(value) = one.as_const() else {
                continue;
            };
            for &(name, ty) in &reads {
                if ty.width != a.width() {
                    continue;
                }
                if is_order {
                    self.note_below(name, value, ty.width);
                } else {
                    self.note_equal(name, value, ty);
                }
                // `x + 1 > c` is also one about x.
                other.walk(&mut |part| {
                    if let Expr::Binary(BinaryOp::Add, _, by) = part
                        && let Some(by) = by.as_const()
                        && is_order
                    {
                        self.note_below(name, value.wrapping_sub(by), ty.width);
                    }
                });
            }
        }
    }

    fn note_assigned(&mut self, template: usize, name: Named, value: &Expr, ty: Ty) {
        if let Some(constant) = value.as_const() {
            self.note_equal(name, constant, ty);
        }
        if let Expr::If(_, a, b) = value {
            for constant in [a, b].into_iter().filter_map(|value| value.as_const()) {
                self.note_equal(name, constant, ty);
            }
        }
        let mut together = scalars(value, template);
        together.push((name, ty));
        self.relate(&together);
    }

    fn relate(&mut self, all: &[(Named, Ty)]) {
        for (number, &(a, ty)) in all.iter().enumerate() {
            for &(b, other) in &all[number + 1..] {
                if a != b && ty.width == other.width && ty.width > NARROW {
                    self.related.entry(a).or_default().insert(b);
                    self.related.entry(b).or_default().insert(a);
                }
            }
        }
    }

    /// Two that are related to a third one are related, and share its constants.
    fn close(&mut self) {
        let direct = self.related.clone();
        let (equal, below) = (self.equal_to.clone(), self.below.clone());
        for (&name, others) in &direct {
            for other in others {
                let further = direct.get(other).into_iter().flatten();
                let all = self.related.entry(name).or_default();
                all.extend(further.filter(|&&third| third != name));
                let values = equal.get(other).into_iter().flatten();
                let all = self.equal_to.entry(name).or_default();
                for &value in values {
                    if all.len() < MOST_EQUAL {
                        all.insert(value);
                    }
                }
                let values = below.get(other).into_iter().flatten();
                let all = self.below.entry(name).or_default();
                for &value in values {
                    if all.len() < MOST_BELOW {
                        all.insert(value);
                    }
                }
            }
        }
    }

    fn find_comparisons(&mut self, template: usize, body: &Template, rules: &Rules) {
        let mut found: Vec<&Expr> = Vec::new();
        for edge in body.locations.iter().flat_map(|location| &location.edges) {
            crate::system::collect(&edge.guard, &mut found);
        }
        let mut open: Vec<Expr> = found.into_iter().cloned().collect();
        let mut known: Vec<Expr> = Vec::new();
        for _ in 0..2 {
            let mut more = Vec::new();
            for comparison in std::mem::take(&mut open) {
                if known.len() < MOST_COMPARISONS
                    && !known.contains(&comparison)
                    && may_compare(&comparison, rules)
                {
                    more.extend(before(body, &comparison));
                    known.push(comparison);
                }
            }
            open = more;
        }
        // Of one scalar and a constant there are predicates already.
        known.retain(|comparison| {
            let mut parts = 0;
            comparison.walk(&mut |_| parts += 1);
            parts > 4
        });
        self.comparisons
            .extend(known.into_iter().map(|comparison| (template, comparison)));
    }

    /// The live scalars of a thread.
    fn own(&self, program: &Program, who: Who, spot: Spot) -> Vec<(Named, Operand, Ty)> {
        let Some((template, location)) = spot else {
            return Vec::new();
        };
        let live = self.live[template][location].iter();
        live.filter_map(|&variable| {
            let local = &program.templates[template].locals[variable];
            let operand = Operand::Own {
                who,
                template,
                variable,
            };
            (local.len == 1).then_some(((Some(template), variable), operand, local.ty))
        })
        .collect()
    }

    /// What may be said at a context, and which of it are guards: conditions under which more may
    /// hold.
    pub fn at(&self, program: &Program, context: &Context) -> (Vec<Predicate>, Vec<usize>) {
        let people = people(context);
        let mut scalars: Vec<(Named, Operand, Ty)> = self
            .shared
            .iter()
            .map(|&number| {
                let ty = program.globals[number].ty;
                ((None, number), Operand::Shared(number), ty)
            })
            .collect();
        for &(who, spot) in &people {
            scalars.extend(self.own(program, who, spot));
        }
        let mut all = BTreeSet::new();
        let mut guards: Vec<(u8, Predicate)> = Vec::new();
        for &(name, operand, ty) in &scalars {
            let rank = match (self.flags.contains(&name), operand) {
                (true, Operand::Shared(_)) => 0,
                (true, _) => 1,
                (false, Operand::Shared(_)) => 2,
                _ => 3,
            };
            if ty.width <= NARROW {
                for bit in 0..ty.width {
                    all.insert(Predicate::Bit(operand, bit));
                    guards.push((rank, Predicate::Bit(operand, bit)));
                }
                continue;
            }
            for &value in self.equal_to.get(&name).into_iter().flatten() {
                all.insert(Predicate::Equals(operand, value));
                if rank < 2 || rank == 2 && self.many_guards {
                    guards.push((rank, Predicate::Equals(operand, value)));
                }
                if rank > 1 {
                    for bound in [value, value.wrapping_add(1) & mask(ty.width)] {
                        all.extend(below(operand, bound, ty, true));
                    }
                }
            }
            if rank > 1 {
                all.insert(Predicate::Bit(operand, 0));
            }
            for &bound in self.below.get(&name).into_iter().flatten() {
                all.extend(below(operand, bound, ty, false));
            }
        }
        for (number, &(a, one, ty)) in scalars.iter().enumerate() {
            for &(b, other, other_ty) in &scalars[number + 1..] {
                let twins = a == b && self.related.contains_key(&a) && ty.width > NARROW;
                let related = self.related.get(&a).is_some_and(|all| all.contains(&b));
                if !(twins || related) || ty.width != other_ty.width {
                    continue;
                }
                all.insert(Predicate::Same(one, other));
                for signed in [false, true] {
                    if ty.signed == signed || other_ty.signed == signed {
                        for (less, than) in [(one, other), (other, one)] {
                            all.insert(Predicate::Less { less, than, signed });
                        }
                    }
                }
            }
        }
        for (variable, constants) in &self.owners {
            for &value in constants {
                let is = Predicate::Equals(Operand::Shared(*variable), value);
                all.insert(is);
                guards.push((0, is));
            }
            for &(who, _) in &people {
                all.insert(Predicate::Mine {
                    variable: *variable,
                    who,
                });
            }
        }
        for number in 0..self.changed.len() {
            for &(who, _) in &people {
                all.insert(Predicate::Changed { number, who });
            }
        }
        for (number, (template, expr)) in self.comparisons.iter().enumerate() {
            for &(who, spot) in &people {
                if let Some((at, location)) = spot
                    && at == *template
                    && self.is_live(at, location, expr)
                {
                    all.insert(Predicate::Compared { who, number });
                }
            }
        }
        let all: Vec<Predicate> = all.into_iter().collect();
        guards.sort_unstable();
        guards.dedup();
        let positions = guards
            .iter()
            .filter_map(|(_, guard)| all.binary_search(guard).ok());
        let guards = positions.take(MOST_GUARDS).collect();
        (all, guards)
    }

    fn is_live(&self, template: usize, location: usize, expr: &Expr) -> bool {
        let mut live = true;
        expr.walk(&mut |part| {
            if let Expr::Read(place) = part
                && let VariableRef::Local(id) = place.variable
            {
                live &= self.live[template][location].contains(&id.index());
            }
        });
        live
    }
}

/// The threads of a context.
pub fn people(context: &Context) -> Vec<(Who, Spot)> {
    let fixed = context.fixed.iter().enumerate();
    let seats = context.seats.iter().enumerate();
    fixed
        .map(|(number, &spot)| (Who::Fixed(number), spot))
        .chain(seats.map(|(number, &spot)| (Who::Seat(number), spot)))
        .filter(|(_, spot)| spot.is_some())
        .collect()
}

/// None if it says nothing, or no more than an equality that is there as well.
fn below(number: Operand, bound: u64, ty: Ty, has_equality: bool) -> Option<Predicate> {
    let signed = ty.signed;
    let least = if signed { 1 << (ty.width - 1) } else { 0 };
    let from_least = bound.wrapping_sub(least) & mask(ty.width);
    let says_more = from_least > 1 && from_least < mask(ty.width);
    (says_more || !has_equality && from_least > 0).then_some(Predicate::Below {
        number,
        bound,
        signed,
    })
}

fn named(variable: VariableRef, template: usize) -> Named {
    match variable {
        VariableRef::Global(id) => (None, id.index()),
        VariableRef::Local(id) => (Some(template), id.index()),
    }
}

/// The scalars that an expression reads.
fn scalars(expr: &Expr, template: usize) -> Vec<(Named, Ty)> {
    let mut found = Vec::new();
    expr.walk(&mut |part| {
        if let Expr::Read(place) = part {
            let one = (named(place.variable, template), place.ty);
            if !found.contains(&one) {
                found.push(one);
            }
        }
    });
    found
}

fn is_choice_of_constants(value: &Expr) -> bool {
    match value {
        Expr::If(_, a, b) => is_choice_of_constants(a) && is_choice_of_constants(b),
        _ => value.as_const().is_some(),
    }
}

fn may_compare(comparison: &Expr, rules: &Rules) -> bool {
    let mut may = comparison.as_const().is_none();
    let mut size = 0;
    comparison.walk(&mut |part| {
        size += 1;
        match part {
            Expr::Binary(op, a, _) if a.width() > NARROW && is_hard(*op) => may = false,
            Expr::Read(place) => {
                may &= match place.variable {
                    VariableRef::Global(id) => !rules.is_owner(None, id.index()),
                    VariableRef::Local(_) => true,
                };
            }
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. } => {}
            _ => may = false,
        }
    });
    may && size <= LARGEST
}

impl Ways<'_> {
    fn slot_of(&self, who: Who, slots: &[usize]) -> usize {
        match who {
            Who::Fixed(number) => number,
            Who::Seat(number) => slots[number],
        }
    }

    fn value(&self, operand: Operand, state: &[Term], slots: &[usize]) -> Option<Term> {
        match operand {
            Operand::Shared(number) => Some(state[self.layout.globals[number]]),
            Operand::Own {
                who,
                template,
                variable,
            } => {
                let slot = self.slot_of(who, slots);
                let resident = self.layout.slots[slot].residents[template].as_ref()?;
                Some(state[resident.locals[variable]])
            }
        }
    }

    /// Whether a predicate holds in a state with these changers, if the seats are these slots. The
    /// changers say for each variable and slot whether its thread changed the variable last.
    pub fn holds(
        &mut self,
        pool: &Pool,
        rules: &Rules,
        predicate: Predicate,
        state: &[Term],
        changers: &[Vec<Term>],
        slots: &[usize],
    ) -> Term {
        let pair =
            |this: &Self, a, b| Some((this.value(a, state, slots)?, this.value(b, state, slots)?));
        match predicate {
            Predicate::Bit(operand, bit) => {
                let Some(value) = self.value(operand, state, slots) else {
                    return Terms::FALSE;
                };
                let width = self.terms.width(value);
                let by = self.terms.constant(bit.into(), width);
                let shifted = self.terms.lshr(value, by);
                self.terms.resize(shifted, 1, false)
            }
            Predicate::Equals(operand, constant) => match self.value(operand, state, slots) {
                Some(value) => self.terms.equals(value, constant),
                None => Terms::FALSE,
            },
            Predicate::Below {
                number,
                bound,
                signed,
            } => {
                let Some(value) = self.value(number, state, slots) else {
                    return Terms::FALSE;
                };
                let bound = self.terms.constant(bound, self.terms.width(value));
                less(&mut self.terms, value, bound, signed)
            }
            Predicate::Same(a, b) => match pair(self, a, b) {
                Some((a, b)) => self.terms.eq(a, b),
                None => Terms::FALSE,
            },
            Predicate::Less {
                less: a,
                than,
                signed,
            } => match pair(self, a, than) {
                Some((a, b)) => less(&mut self.terms, a, b, signed),
                None => Terms::FALSE,
            },
            Predicate::Mine { variable, who } => {
                let Some(me) = rules
                    .owners
                    .get(&variable)
                    .and_then(|owner| owner.me.as_ref())
                else {
                    return Terms::FALSE;
                };
                let slot = self.slot_of(who, slots);
                let me = view(&self.layout, state, slot, 0).eval(&mut self.terms, me);
                self.terms.eq(state[self.layout.globals[variable]], me)
            }
            Predicate::Changed { number, who } => changers[number][self.slot_of(who, slots)],
            Predicate::Compared { who, number } => {
                let (template, expr) = &pool.comparisons[number];
                let slot = self.slot_of(who, slots);
                view(&self.layout, state, slot, *template).eval(&mut self.terms, expr)
            }
        }
    }
}

fn less(terms: &mut Terms, a: Term, b: Term, signed: bool) -> Term {
    if signed {
        terms.slt(a, b)
    } else {
        terms.ult(a, b)
    }
}
