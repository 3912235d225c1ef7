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

    /// No longer claims these facts.
    fn give_up(&mut self, facts: &[Fact]) {
        self.version += 1;
        for fact in facts {
            match fact[..] {
                [(number, _)] => self.all[number] = BOTH,
                [(guard, value), (number, _)] => {
                    let position = self.guards.iter().position(|&other| other == guard);
                    if let Some(position) = position {
                        self.under[position][usize::from(!value)][number] = BOTH;
                    }
                }
                _ => {}
            }
        }
    }

    /// Claims nothing at all.
    fn give_up_all(&mut self) {
        self.version += 1;
        self.all.fill(BOTH);
        for under in &mut self.under {
            under.iter_mut().for_each(|under| under.fill(BOTH));
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
                    if number == guard || self.all[number] != BOTH || under == BOTH {
                        continue;
                    }
                    let decides = self.predicates[guard].decides(self.predicates[number]);
                    if !(value && decides) {
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

/// Conflicts after which a question is asked of a solver of its own, and after which what it is about
/// is no longer claimed.
const PATIENCE: u64 = 400;
const PATIENCE_ANEW: u64 = 5_000;

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

    /// The largest contexts within a configuration of these threads. What holds in smaller ones is
    /// said by these as well.
    fn within(&self, fixed: &[Spot], threads: &[(Spot, usize)]) -> Vec<(Context, Vec<usize>)> {
        let width = self.ways.width;
        let mut all = Vec::new();
        for subset in 0..1u32 << threads.len() {
            let chosen = threads.iter().enumerate();
            let chosen = chosen.filter(|(number, _)| subset >> number & 1 == 1);
            let mut chosen: Vec<(Spot, usize)> = chosen.map(|(_, &thread)| thread).collect();
            if chosen.len() != width.min(threads.len()) {
                continue;
            }
            // An empty seat is any slot: nothing is said of it.
            chosen.resize(width, (None, self.ways.fixed));
            all.push(Context::seated(fixed.to_vec(), &chosen));
        }
        all
    }

    /// The threads of a context that is in the first slots of created threads.
    fn threads(&self, context: &Context) -> Vec<(Spot, usize)> {
        let seats = context.seats.iter().enumerate();
        seats
            .filter(|(_, spot)| spot.is_some())
            .map(|(number, &spot)| (spot, self.ways.fixed + number))
            .collect()
    }

    /// The steps of the threads of a context.
    pub fn own_moves(&mut self, context: &Context, follow: Follow) -> Result<Vec<Move>, GiveUp> {
        let (fixed, width) = (self.ways.fixed, self.ways.width);
        let outside = self.ways.outside();
        let threads = self.threads(context);
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
        Ok(in_both_orders(all))
    }

    /// The steps of a thread outside of a context, at one of these spots.
    pub fn interference(
        &mut self,
        context: &Context,
        others: &[Spot],
        follow: Follow,
    ) -> Result<Vec<Move>, GiveUp> {
        let (fixed, width) = (self.ways.fixed, self.ways.width);
        let outside = self.ways.outside();
        let threads = self.threads(context);
        let mut all = Vec::new();
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
        Ok(in_both_orders(all))
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

/// What is said of two threads at one spot is said of both orders.
fn in_both_orders(all: Vec<Move>) -> Vec<Move> {
    let mut both = Vec::new();
    for step in all {
        if step.target.has_twins() {
            let mut other = step.clone();
            other.slots.reverse();
            both.push(other);
        }
        both.push(step);
    }
    both
}

fn spot_after(spot: (usize, usize), end: End) -> Spot {
    match end {
        End::At(location) => Some((spot.0, location)),
        End::Gone | End::Bad => None,
    }
}

/// A context with what was seen there, and the steps from it.
struct Entry {
    context: Context,
    held: Held,
    steps: Vec<Step>,
    /// The number of threads outside whose steps are among them.
    others: usize,
    /// The facts as literals, by slots, with their version.
    assumed: FxHashMap<Vec<usize>, (u32, Rc<[Lit]>)>,
}

/// A step, with contexts by their numbers.
struct Step {
    step: Move,
    sources: Vec<(usize, Vec<usize>)>,
    target: usize,
    /// The predicates of the target after it.
    after: Option<Rc<[Lit]>>,
    /// The versions of its sources when it was last looked at.
    looked: Vec<u32>,
}

/// The search for the fixpoint.
pub struct Search<'s, 'a, 'p> {
    system: &'s mut System<'a, 'p>,
    blaster: Blaster,
    entries: Vec<Entry>,
    numbers: FxHashMap<Context, usize>,
    /// The contexts that were reached, in order.
    order: Vec<usize>,
    /// By the places of the fixed threads: where one thread beside them may be.
    beside: FxHashMap<Vec<Spot>, Vec<Spot>>,
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
            entries: Vec::new(),
            numbers: FxHashMap::default(),
            order: Vec::new(),
            beside: FxHashMap::default(),
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

    /// The contexts that were reached, with what holds there.
    pub fn found(&self) -> impl Iterator<Item = (&Context, &Held)> {
        let entries = self.order.iter().map(|&number| &self.entries[number]);
        entries.map(|entry| (&entry.context, &entry.held))
    }

    /// Finds the fixpoint.
    pub fn run(&mut self, follow: Follow) -> Result<(), GiveUp> {
        let start = self.system.start();
        let start = self.number(&start)?;
        let values = self
            .system
            .at_start(&self.entries[start].held.predicates.clone());
        self.absorb(start, &values);
        loop {
            // Steps of the threads of a context come first: they are few and lead on.
            let mut grew = self.sweep(follow, false)?;
            grew |= self.sweep(follow, true)?;
            if !grew {
                return Ok(());
            }
        }
    }

    fn sweep(&mut self, follow: Follow, outside: bool) -> Result<bool, GiveUp> {
        let mut any = false;
        loop {
            let mut grew = false;
            let mut position = 0;
            while position < self.order.len() {
                let entry = self.order[position];
                self.extend_steps(entry, follow, outside)?;
                for index in 0..self.entries[entry].steps.len() {
                    let step = &self.entries[entry].steps[index];
                    if (step.step.mover == self.system.ways.outside()) == outside {
                        grew |= self.follow(entry, index)?;
                    }
                }
                position += 1;
            }
            any |= grew;
            if !grew || outside {
                return Ok(any);
            }
        }
    }

    /// The number of a context, which may be new.
    fn number(&mut self, context: &Context) -> Result<usize, GiveUp> {
        if let Some(&known) = self.numbers.get(context) {
            return Ok(known);
        }
        if self.entries.len() >= MOST_CONTEXTS {
            return Err(GiveUp::Unsuited);
        }
        let number = self.entries.len();
        self.numbers.insert(context.clone(), number);
        self.entries.push(Entry {
            context: context.clone(),
            held: self.system.held(context),
            steps: Vec::new(),
            others: usize::MAX,
            assumed: FxHashMap::default(),
        });
        Ok(number)
    }

    fn absorb(&mut self, entry: usize, values: &[bool]) {
        let Entry { context, held, .. } = &mut self.entries[entry];
        if !held.is_reached() {
            self.order.push(entry);
            let there = context.seats.iter().filter(|spot| spot.is_some());
            if there.count() == 1 {
                let spots = self.beside.entry(context.fixed.clone()).or_default();
                spots.extend(context.seats.last().copied());
            }
        }
        held.absorb(values);
    }

    /// Adds the steps that are new: at first all of the context's own threads, then those of
    /// threads outside that were found since.
    fn extend_steps(&mut self, entry: usize, follow: Follow, outside: bool) -> Result<(), GiveUp> {
        let context = self.entries[entry].context.clone();
        let is_first = self.entries[entry].others == usize::MAX;
        let mut new = Vec::new();
        if is_first {
            new = self.system.own_moves(&context, follow)?;
            self.entries[entry].others = 0;
        }
        if outside {
            let known = self.entries[entry].others;
            let spots = self.beside.get(&context.fixed);
            let spots = spots.map_or(Vec::new(), |spots| spots[known..].to_vec());
            self.entries[entry].others = known + spots.len();
            new.extend(self.system.interference(&context, &spots, follow)?);
        }
        for step in new {
            let mut sources = Vec::new();
            for (context, slots) in &step.sources {
                sources.push((self.number(context)?, slots.clone()));
            }
            let target = self.number(&step.target)?;
            self.entries[entry].steps.push(Step {
                step,
                sources,
                target,
                after: None,
                looked: Vec::new(),
            });
        }
        Ok(())
    }

    fn follow(&mut self, entry: usize, index: usize) -> Result<bool, GiveUp> {
        let step = &self.entries[entry].steps[index];
        let versions = step.sources.iter();
        let versions = versions.map(|(source, _)| self.entries[*source].held.version);
        let versions: Vec<u32> = versions.collect();
        // Version 0 is a context that was not reached: then the step is not possible.
        if versions.contains(&0) || step.looked == versions {
            return Ok(false);
        }
        let (condition, end) = (step.step.way.condition, step.step.way.end);
        let mut assumed = Vec::new();
        for (source, slots) in step.sources.clone() {
            assumed.extend_from_slice(&self.facts(source, &slots));
        }
        let possible = self.lit(condition);
        let grew = if end == End::Bad {
            assumed.push(possible);
            let is_possible = match self.solve(&assumed)? {
                Answer::Stopped => self.ask_anew(entry, index, &[])?.0 != Answer::Unsat,
                answer => answer == Answer::Sat,
            };
            if is_possible {
                return Err(GiveUp::Alarm);
            }
            false
        } else {
            self.post(entry, index, assumed, possible)?
        };
        self.entries[entry].steps[index].looked = versions;
        Ok(grew)
    }

    /// Adds to a context what a step brings there.
    fn post(
        &mut self,
        entry: usize,
        index: usize,
        assumed: Vec<Lit>,
        possible: Lit,
    ) -> Result<bool, GiveUp> {
        let target = self.entries[entry].steps[index].target;
        let after = self.after(entry, index);
        let mut assumptions = assumed;
        let known: FxHashSet<Lit> = assumptions.iter().copied().collect();
        assumptions.push(possible);
        let truth = self.blaster.solver.truth();
        let mut grew = false;
        loop {
            let held = &self.entries[target].held;
            let base = assumptions.len();
            let mut switch = None;
            let mut open = Vec::new();
            if held.is_reached() {
                let mut broken = Vec::new();
                for fact in held.facts() {
                    // Most facts are about what does not change.
                    if let [(number, value)] = fact[..]
                        && known.contains(&literal(&after, (number, value)))
                    {
                        continue;
                    }
                    let holds = clause(&mut self.blaster, &fact, &after);
                    if holds != truth && !known.contains(&holds) {
                        broken.push(!holds);
                        open.push(fact);
                    }
                }
                if broken.is_empty() {
                    return Ok(grew);
                }
                let one = self.blaster.solver.new_lit();
                broken.push(!one);
                self.blaster.solver.add(&broken);
                assumptions.push(one);
                switch = Some(one);
            }
            let mut answer = self.solve(&assumptions)?;
            assumptions.truncate(base);
            let solver = &self.blaster.solver;
            let mut values: Vec<bool> = match answer {
                Answer::Sat => after.iter().map(|&lit| solver.value(lit)).collect(),
                _ => Vec::new(),
            };
            if let Some(switch) = switch {
                self.blaster.solver.add(&[!switch]);
            }
            if answer == Answer::Stopped {
                (answer, values) = self.ask_anew(entry, index, &open)?;
            }
            match answer {
                Answer::Unsat => return Ok(grew),
                Answer::Sat => self.absorb(target, &values),
                Answer::Stopped if open.is_empty() => {
                    self.absorb(target, &vec![false; after.len()]);
                    self.entries[target].held.give_up_all();
                }
                Answer::Stopped => self.entries[target].held.give_up(&open),
            }
            grew = true;
        }
    }

    /// Asks for a step that breaks one of the facts, or if there are none for any, of a new solver
    /// that decides on everything: better for hard questions. The values of the target's
    /// predicates after that step.
    fn ask_anew(
        &mut self,
        entry: usize,
        index: usize,
        open: &[Fact],
    ) -> Result<(Answer, Vec<bool>), GiveUp> {
        let step = &self.entries[entry].steps[index];
        let mut blaster = Blaster::new(Solver::new(self.limit.clone()));
        blaster.assert(&self.system.ways.terms, self.system.domain);
        blaster.assert(&self.system.ways.terms, step.step.way.condition);
        for (source, slots) in &step.sources {
            let held = &self.entries[*source].held;
            let before = self.system.before(&held.predicates, slots);
            let lits: Vec<Lit> = before
                .into_iter()
                .map(|term| blaster.lit(&self.system.ways.terms, term))
                .collect();
            for fact in held.facts() {
                let parts = fact.iter().map(|&part| literal(&lits, part));
                let parts: Vec<Lit> = parts.collect();
                blaster.solver.add(&parts);
            }
        }
        let predicates = &self.entries[step.target].held.predicates;
        let after: Vec<Lit> = self
            .system
            .after(predicates, &step.step)
            .into_iter()
            .map(|term| blaster.lit(&self.system.ways.terms, term))
            .collect();
        if !open.is_empty() {
            let mut broken = Vec::new();
            for fact in open {
                broken.push(!clause(&mut blaster, fact, &after));
            }
            blaster.solver.add(&broken);
        }
        self.questions += 1;
        let answer = blaster.solver.solve_within(PATIENCE_ANEW, &[]);
        if self.limit.is_over() {
            return Err(GiveUp::Stopped);
        }
        let values = match answer {
            Answer::Sat => after.iter().map(|&lit| blaster.solver.value(lit)).collect(),
            _ => Vec::new(),
        };
        Ok((answer, values))
    }

    /// The predicates of a step's target after it.
    fn after(&mut self, entry: usize, index: usize) -> Rc<[Lit]> {
        let step = &self.entries[entry].steps[index];
        if let Some(known) = &step.after {
            return known.clone();
        }
        let predicates = &self.entries[step.target].held.predicates;
        let after = self.system.after(predicates, &step.step);
        let after: Rc<[Lit]> = after.into_iter().map(|term| self.lit(term)).collect();
        self.entries[entry].steps[index].after = Some(after.clone());
        after
    }

    fn lit(&mut self, term: Term) -> Lit {
        self.blaster.lit(&self.system.ways.terms, term)
    }

    /// The facts of a context whose seats are these slots.
    fn facts(&mut self, entry: usize, slots: &[usize]) -> Rc<[Lit]> {
        let Entry { held, assumed, .. } = &self.entries[entry];
        let version = held.version;
        if let Some((of, lits)) = assumed.get(slots)
            && *of == version
        {
            return lits.clone();
        }
        let facts = held.facts();
        let before = self.system.before(&held.predicates, slots);
        let before: Vec<Lit> = before.into_iter().map(|term| self.lit(term)).collect();
        let lits: Rc<[Lit]> = facts
            .iter()
            .map(|fact| clause(&mut self.blaster, fact, &before))
            .collect();
        let assumed = &mut self.entries[entry].assumed;
        assumed.insert(slots.to_vec(), (version, lits.clone()));
        lits
    }

    /// The answer; stopped if the question is hard.
    fn solve(&mut self, assumptions: &[Lit]) -> Result<Answer, GiveUp> {
        if self.limit.stop().is_some() {
            return Err(GiveUp::Stopped);
        }
        self.questions += 1;
        let answer = self.blaster.solver.solve_within(PATIENCE, assumptions);
        match self.limit.is_over() {
            true => Err(GiveUp::Stopped),
            false => Ok(answer),
        }
    }
}

fn literal(lits: &[Lit], (number, value): (usize, bool)) -> Lit {
    if value { lits[number] } else { !lits[number] }
}

/// The literal of a fact, given those of the predicates.
fn clause(blaster: &mut Blaster, fact: &Fact, lits: &[Lit]) -> Lit {
    let mut holds = !blaster.solver.truth();
    for &part in fact {
        holds = blaster.or(holds, literal(lits, part));
    }
    holds
}
