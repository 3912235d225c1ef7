//! What holds at each context: the least fixpoint over all contexts that can be reached.
//!
//! At a context, a fact is a predicate that always has the same value there, or one that has the
//! same value whenever a guard has a given value. So what is stored is which values were *seen*: of
//! each predicate, and of each predicate under each value of each guard. It begins with nothing (the
//! context is not reached) and grows. For each step into the context the solver is asked for a state
//! in which the facts of all contexts before the step hold, and some fact after it does not; the
//! values of the predicates in that state are added, until there is none. This is the best
//! abstraction of the step in the sense of Reps, Sagiv and Yorsh (2004), *Symbolic Implementation of
//! the Best Transformer*, and thread-modular in that of Miné (2011), *Static Analysis of Run-Time
//! Errors in Embedded Critical Parallel C Programs*; different from both, contexts have one or two
//! threads, so facts relate the variables of two threads with each other.
//!
//! Control is explicit. A question is about one step of one thread from a known place, with a
//! formula of a few hundred gates, however large the program is.

use std::rc::Rc;

use mover_engine::{Control, SolverEffort};
use mover_ir::program::Program;
use rustc_hash::{FxHashMap, FxHashSet};

use super::control::{Context, End, NoWays, Spot, Way, Ways};
use super::predicates::{Pool, Predicate};
use crate::blast::Blaster;
use crate::modular::rules::Rules;
use crate::sat::{Answer, Decisions, Lit, Solver};
use crate::term::{Evaluation, Term, Terms};

/// Values of a predicate that were seen, as bits: 1 for false, 2 for true.
type Seen = u8;
const BOTH: Seen = 3;

fn seen(value: bool) -> Seen {
    1 << u8::from(value)
}

/// What was seen at a context.
#[derive(Clone, Debug, Default)]
pub struct Held {
    pub predicates: Vec<Predicate>,
    pub guards: Vec<usize>,
    all: Vec<Seen>,
    /// By guard and its value.
    under: Vec<[Vec<Seen>; 2]>,
    /// How often something new was seen; 0: the context is not reached.
    version: u32,
}

/// A fact: one of these literals holds.
pub type Fact = Vec<(usize, bool)>;

impl Held {
    pub fn new(predicates: Vec<Predicate>, guards: Vec<usize>) -> Held {
        let none = vec![0; predicates.len()];
        Held {
            all: none.clone(),
            under: vec![[none.clone(), none]; guards.len()],
            predicates,
            guards,
            version: 0,
        }
    }

    pub fn is_reached(&self) -> bool {
        self.version > 0
    }

    /// Adds a state by the values of the predicates.
    fn absorb(&mut self, values: &[bool]) {
        self.version += 1;
        for (all, &value) in self.all.iter_mut().zip(values) {
            *all |= seen(value);
        }
        for (&guard, under) in self.guards.iter().zip(&mut self.under) {
            let under = &mut under[usize::from(values[guard])];
            for (seen_so_far, &value) in under.iter_mut().zip(values) {
                *seen_so_far |= seen(value);
            }
        }
    }

    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (number, &all) in self.all.iter().enumerate() {
            if all != BOTH {
                facts.push(vec![(number, all == seen(true))]);
            }
        }
        for (&guard, under) in self.guards.iter().zip(&self.under) {
            if self.all[guard] != BOTH {
                continue;
            }
            for value in [false, true] {
                for (number, &under) in under[usize::from(value)].iter().enumerate() {
                    if number != guard && self.all[number] == BOTH && under != BOTH {
                        facts.push(vec![(guard, !value), (number, under == seen(true))]);
                    }
                }
            }
        }
        facts
    }
}

/// Why there is no fixpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GiveUp {
    /// A violation is not excluded.
    Alarm,
    /// There are too many contexts, or something that is not modelled.
    Unsuited,
    Stopped,
}

impl From<NoWays> for GiveUp {
    fn from(none: NoWays) -> GiveUp {
        match none {
            NoWays::Unsuited => GiveUp::Unsuited,
            NoWays::Stopped => GiveUp::Stopped,
        }
    }
}

/// What a search follows; tests leave parts out and see that the check notices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follow {
    pub own: bool,
    pub fixed: bool,
    pub creation: bool,
    pub interference: bool,
    /// Interference by a thread that stands where one of the view stands.
    pub twins: bool,
}

impl Follow {
    pub const ALL: Follow = Follow {
        own: true,
        fixed: true,
        creation: true,
        interference: true,
        twins: true,
    };
}

/// Contexts, at most.
const MOST_CONTEXTS: usize = 6_000;

/// A step to be followed: who moves in which context, and where that leads.
#[derive(Clone)]
pub struct Move {
    /// The contexts whose facts hold before it, each with the slots of its seats.
    pub sources: Vec<(Context, Vec<usize>)>,
    pub mover: usize,
    pub way: Rc<Way>,
    pub target: Context,
    pub slots: Vec<usize>,
    /// The slot of the thread that it creates.
    pub created: Option<usize>,
}

/// The formulas of steps and predicates.
pub struct System<'a, 'p> {
    pub ways: Ways<'p>,
    pub pool: &'a Pool,
    pub rules: &'a Rules,
    /// For each variable with a changer, and each slot.
    pub changers: Vec<Vec<Term>>,
    /// No variable was changed last by two threads.
    pub domain: Term,
}

impl<'a, 'p> System<'a, 'p> {
    pub fn new(mut ways: Ways<'p>, pool: &'a Pool, rules: &'a Rules) -> Self {
        let slots = ways.layout.slots.len();
        let mut changers: Vec<Vec<Term>> = Vec::new();
        let mut domain = Vec::new();
        for &variable in &pool.changed {
            let of_slots: Vec<Term> = (0..slots)
                .map(|slot| {
                    ways.terms
                        .variable(format!("changer of {variable} is {slot}"), 1)
                })
                .collect();
            for (number, &one) in of_slots.iter().enumerate() {
                for &other in &of_slots[..number] {
                    let both = ways.terms.and(one, other);
                    domain.push(ways.terms.not(both));
                }
            }
            changers.push(of_slots);
        }
        let domain = ways.terms.all(domain);
        System {
            ways,
            pool,
            rules,
            changers,
            domain,
        }
    }

    pub fn program(&self) -> &'p Program {
        self.ways.layout.program
    }

    pub fn start(&self) -> Context {
        let initial = self.program().initial.iter();
        let entry = |template: mover_ir::program::TemplateId| {
            let body = self.program().template(template);
            Some((template.index(), body.entry.index()))
        };
        Context {
            fixed: initial.map(|instance| entry(instance.template)).collect(),
            seats: vec![None; self.ways.width],
        }
    }

    pub fn held(&self, context: &Context) -> Held {
        let (predicates, guards) = self.pool.at(self.program(), context);
        Held::new(predicates, guards)
    }

    /// The predicates now, if the seats are these slots.
    pub fn before(&mut self, predicates: &[Predicate], slots: &[usize]) -> Vec<Term> {
        let now = self.ways.now.clone();
        let changers = self.changers.clone();
        let one = |&predicate: &Predicate| {
            self.ways
                .holds(self.pool, self.rules, predicate, &now, &changers, slots)
        };
        predicates.iter().map(one).collect()
    }

    /// The predicates after a step.
    pub fn after(&mut self, predicates: &[Predicate], step: &Move) -> Vec<Term> {
        let after = &step.way.after;
        let mut changers = self.changers.clone();
        for (number, &variable) in self.pool.changed.iter().enumerate() {
            let cell = self.ways.layout.globals[variable];
            let terms = &mut self.ways.terms;
            let same = terms.eq(self.ways.now[cell], after[cell]);
            let changed = terms.not(same);
            for (slot, it) in changers[number].iter_mut().enumerate() {
                *it = if slot == step.mover {
                    terms.or(changed, *it)
                } else if step.created == Some(slot) {
                    Terms::FALSE
                } else {
                    terms.and(same, *it)
                };
            }
        }
        let one = |&predicate: &Predicate| {
            self.ways.holds(
                self.pool,
                self.rules,
                predicate,
                after,
                &changers,
                &step.slots,
            )
        };
        predicates.iter().map(one).collect()
    }

    /// The predicates at the start.
    pub fn at_start(&mut self, predicates: &[Predicate]) -> Vec<bool> {
        let terms = self.before(predicates, &vec![self.ways.fixed; self.ways.width]);
        let values = self.ways.layout.initial();
        let mut known = FxHashMap::default();
        for (&term, value) in self.ways.now.iter().zip(values) {
            known.extend(self.ways.terms.as_var(term).map(|var| (var, value)));
        }
        let at = |var| known.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(&self.ways.terms, &at);
        terms.iter().map(|&term| evaluation.holds(term)).collect()
    }

    /// All contexts within a configuration of these threads, the largest first.
    fn within(&self, fixed: &[Spot], threads: &[(Spot, usize)]) -> Vec<(Context, Vec<usize>)> {
        let width = self.ways.width;
        let mut all = Vec::new();
        for subset in 0..1u32 << threads.len() {
            let chosen = threads.iter().enumerate();
            let chosen = chosen.filter(|(number, _)| subset >> number & 1 == 1);
            let mut chosen: Vec<(Spot, usize)> = chosen.map(|(_, &thread)| thread).collect();
            if chosen.len() > width {
                continue;
            }
            // An empty seat is any slot: nothing is said of it.
            chosen.resize(width, (None, self.ways.fixed));
            all.push(Context::seated(fixed.to_vec(), &chosen));
        }
        all
    }

    /// The steps of the threads of a context, and of one other thread at one of these spots.
    pub fn moves(
        &mut self,
        context: &Context,
        others: &[Spot],
        follow: Follow,
    ) -> Result<Vec<Move>, GiveUp> {
        let (fixed, width) = (self.ways.fixed, self.ways.width);
        let outside = fixed + width;
        let threads: Vec<(Spot, usize)> = context
            .seats
            .iter()
            .enumerate()
            .filter(|(_, spot)| spot.is_some())
            .map(|(number, &spot)| (spot, fixed + number))
            .collect();
        let sources = self.within(&context.fixed, &threads);
        let mut all = Vec::new();
        for (number, &spot) in context.fixed.iter().enumerate() {
            let Some(spot) = spot else { continue };
            // A thread that is created takes an empty seat, or is forgotten.
            let empty = (0..width).find(|&seat| context.seats[seat].is_none());
            for free in [Some(outside), empty.map(|seat| fixed + seat)]
                .into_iter()
                .flatten()
            {
                for way in self.ways.ways(number, spot, free)? {
                    let creates = way.creates.is_some();
                    if !(if creates {
                        follow.creation
                    } else {
                        follow.fixed
                    }) || !creates && free != outside
                    {
                        continue;
                    }
                    if creates && context.fixed.contains(&None) {
                        // The number of a thread that has gone may come back.
                        return Err(GiveUp::Unsuited);
                    }
                    let mut fixed_after = context.fixed.clone();
                    fixed_after[number] = spot_after(spot, way.end);
                    let mut seated = threads.clone();
                    if creates && free != outside {
                        seated.push((way.creates, free));
                    }
                    seated.resize(width, (None, fixed));
                    let (target, slots) = Context::seated(fixed_after, &seated);
                    all.push(Move {
                        sources: sources.clone(),
                        mover: number,
                        created: creates.then_some(free),
                        way,
                        target,
                        slots,
                    });
                }
            }
        }
        for (number, &(spot, slot)) in threads.iter().enumerate() {
            let Some(spot) = spot.filter(|_| follow.own) else {
                continue;
            };
            for way in self.ways.ways(slot, spot, outside)? {
                if way.creates.is_some() {
                    return Err(GiveUp::Unsuited);
                }
                let mut seated = threads.clone();
                seated[number].0 = spot_after(spot, way.end);
                seated.resize(width, (None, fixed));
                let (target, slots) = Context::seated(context.fixed.clone(), &seated);
                all.push(Move {
                    sources: sources.clone(),
                    mover: slot,
                    created: None,
                    way,
                    target,
                    slots,
                });
            }
        }
        for &other in others {
            let Some(spot) = other else { continue };
            if !follow.interference || !follow.twins && context.seats.contains(&other) {
                continue;
            }
            let mut together = threads.clone();
            together.push((other, outside));
            let sources = self.within(&context.fixed, &together);
            let mut seated = threads.clone();
            seated.resize(width, (None, fixed));
            let (target, slots) = Context::seated(context.fixed.clone(), &seated);
            for way in self.ways.ways(outside, spot, fixed)? {
                if way.creates.is_some() {
                    return Err(GiveUp::Unsuited);
                }
                // What it does to itself is followed where it is in the view.
                if way.end != End::Bad && self.changes_shared(&way) {
                    all.push(Move {
                        sources: sources.clone(),
                        mover: outside,
                        created: None,
                        way,
                        target: target.clone(),
                        slots: slots.clone(),
                    });
                }
            }
        }
        // What is said of two threads at one spot is said of both orders.
        let mut both = Vec::new();
        for step in all {
            if step.target.has_twins() {
                let mut other = step.clone();
                other.slots.reverse();
                both.push(other);
            }
            both.push(step);
        }
        Ok(both)
    }

    /// Whether a step changes something besides its own thread.
    fn changes_shared(&self, way: &Way) -> bool {
        let layout = &self.ways.layout;
        let last = layout.slots.len() - 1;
        let own: FxHashSet<usize> = crate::modular::views::cells_of(layout, last)
            .into_iter()
            .collect();
        let cells = self.ways.now.iter().zip(&way.after).enumerate();
        let mut cells = cells.filter(|(cell, _)| {
            use crate::layout::Cell;
            !own.contains(cell) && !matches!(layout.cells[*cell], Cell::Place { .. } | Cell::Turn)
        });
        cells.any(|(_, (before, after))| before != after)
    }
}

fn spot_after(spot: (usize, usize), end: End) -> Spot {
    match end {
        End::At(location) => Some((spot.0, location)),
        End::Gone | End::Bad => None,
    }
}

/// The search for the fixpoint.
pub struct Search<'s, 'a, 'p> {
    system: &'s mut System<'a, 'p>,
    blaster: Blaster,
    pub found: FxHashMap<Context, Held>,
    order: Vec<Context>,
    /// For each step: the versions of its sources when it was last looked at.
    looked: FxHashMap<(usize, usize), Vec<u32>>,
    /// The facts of contexts as literals, by version and slots.
    assumed: FxHashMap<(Context, Vec<usize>), (u32, Vec<Lit>)>,
    limit: Control,
    pub questions: u64,
}

impl<'s, 'a, 'p> Search<'s, 'a, 'p> {
    pub fn new(system: &'s mut System<'a, 'p>, limit: &Control) -> Self {
        let mut blaster = Blaster::new(Solver::deciding(Decisions::Inputs, limit.clone()));
        blaster.assert(&system.ways.terms, system.domain);
        Search {
            system,
            blaster,
            found: FxHashMap::default(),
            order: Vec::new(),
            looked: FxHashMap::default(),
            assumed: FxHashMap::default(),
            limit: limit.clone(),
            questions: 0,
        }
    }

    pub fn terms(&self) -> usize {
        self.system.ways.terms.len()
    }

    pub fn effort(&self) -> SolverEffort {
        self.blaster.solver.effort()
    }

    /// Finds the fixpoint.
    pub fn run(&mut self, follow: Follow) -> Result<(), GiveUp> {
        let start = self.system.start();
        let mut held = self.system.held(&start);
        let values = self.system.at_start(&held.predicates);
        held.absorb(&values);
        self.found.insert(start.clone(), held);
        self.order.push(start);
        loop {
            let mut grew = false;
            let mut number = 0;
            while number < self.order.len() {
                let context = self.order[number].clone();
                let others = others(&self.order, &self.found, &context);
                let moves = self.system.moves(&context, &others, follow)?;
                for (index, step) in moves.iter().enumerate() {
                    grew |= self.follow(number, index, step)?;
                }
                number += 1;
            }
            if !grew {
                return Ok(());
            }
        }
    }

    fn follow(&mut self, context: usize, index: usize, step: &Move) -> Result<bool, GiveUp> {
        let mut versions = Vec::new();
        for (source, _) in &step.sources {
            match self.found.get(source) {
                Some(held) if held.is_reached() => versions.push(held.version),
                _ => return Ok(false),
            }
        }
        // The others of a context come in an order that only grows, so the number of a step stays.
        let key = (context, index);
        if self.looked.get(&key) == Some(&versions) {
            return Ok(false);
        }
        let mut assumed = Vec::new();
        for (source, slots) in &step.sources {
            assumed.extend(self.facts(source, slots));
        }
        let possible = self.lit(step.way.condition);
        if step.way.end == End::Bad {
            assumed.push(possible);
            if self.solve(&assumed)? {
                return Err(GiveUp::Alarm);
            }
            self.looked.insert(key, versions);
            return Ok(false);
        }
        let grew = self.post(step, assumed, possible)?;
        self.looked.insert(key, versions);
        Ok(grew)
    }

    /// Adds to a context what a step brings there.
    fn post(&mut self, step: &Move, assumed: Vec<Lit>, possible: Lit) -> Result<bool, GiveUp> {
        if !self.found.contains_key(&step.target) {
            if self.order.len() >= MOST_CONTEXTS {
                return Err(GiveUp::Unsuited);
            }
            let held = self.system.held(&step.target);
            self.found.insert(step.target.clone(), held);
        }
        let predicates = self.found[&step.target].predicates.clone();
        let after = self.system.after(&predicates, step);
        let after: Vec<Lit> = after.into_iter().map(|term| self.lit(term)).collect();
        let mut assumptions = assumed;
        let known: FxHashSet<Lit> = assumptions.iter().copied().collect();
        assumptions.push(possible);
        let truth = self.blaster.solver.truth();
        let mut grew = false;
        loop {
            let held = &self.found[&step.target];
            let mut question = assumptions.clone();
            let mut switch = None;
            if held.is_reached() {
                let mut broken = Vec::new();
                for fact in held.facts() {
                    let holds = clause(&mut self.blaster, &fact, &after);
                    if holds != truth && !known.contains(&holds) {
                        broken.push(!holds);
                    }
                }
                if broken.is_empty() {
                    return Ok(grew);
                }
                let one = self.blaster.solver.new_lit();
                broken.push(!one);
                self.blaster.solver.add(&broken);
                question.push(one);
                switch = Some(one);
            }
            let answer = self.solve(&question);
            let is_new = answer?;
            if is_new {
                let solver = &self.blaster.solver;
                let values: Vec<bool> = after.iter().map(|&lit| solver.value(lit)).collect();
                if let Some(held) = self.found.get_mut(&step.target) {
                    if !held.is_reached() {
                        self.order.push(step.target.clone());
                    }
                    held.absorb(&values);
                }
                grew = true;
            }
            if let Some(switch) = switch {
                self.blaster.solver.add(&[!switch]);
            }
            if !is_new {
                return Ok(grew);
            }
        }
    }

    fn lit(&mut self, term: Term) -> Lit {
        self.blaster.lit(&self.system.ways.terms, term)
    }

    /// The facts of a context whose seats are these slots.
    fn facts(&mut self, context: &Context, slots: &[usize]) -> Vec<Lit> {
        let key = (context.clone(), slots.to_vec());
        let held = &self.found[context];
        let version = held.version;
        if let Some((of, lits)) = self.assumed.get(&key)
            && *of == version
        {
            return lits.clone();
        }
        let facts = held.facts();
        let predicates = held.predicates.clone();
        let before = self.system.before(&predicates, slots);
        let before: Vec<Lit> = before.into_iter().map(|term| self.lit(term)).collect();
        let lits: Vec<Lit> = facts
            .iter()
            .map(|fact| clause(&mut self.blaster, fact, &before))
            .collect();
        self.assumed.insert(key, (version, lits.clone()));
        lits
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Result<bool, GiveUp> {
        if self.limit.stop().is_some() {
            return Err(GiveUp::Stopped);
        }
        self.questions += 1;
        match self.blaster.solver.solve(assumptions) {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Stopped => Err(GiveUp::Stopped),
        }
    }
}

/// The spots of threads beside the same fixed ones, in the order in which they were found.
pub fn others(order: &[Context], found: &FxHashMap<Context, Held>, context: &Context) -> Vec<Spot> {
    let mut spots = Vec::new();
    for other in order {
        let (last, rest) = match other.seats.split_last() {
            Some((last, rest)) => (*last, rest),
            None => continue,
        };
        let is_alone = rest.iter().all(Option::is_none);
        if other.fixed == context.fixed
            && is_alone
            && last.is_some()
            && found.get(other).is_some_and(Held::is_reached)
        {
            spots.push(last);
        }
    }
    spots
}

/// The literal of a fact, given those of the predicates.
fn clause(blaster: &mut Blaster, fact: &Fact, lits: &[Lit]) -> Lit {
    let lit = |&(number, value): &(usize, bool)| {
        if value { lits[number] } else { !lits[number] }
    };
    let mut holds = !blaster.solver.truth();
    for part in fact {
        holds = blaster.or(holds, lit(part));
    }
    holds
}
