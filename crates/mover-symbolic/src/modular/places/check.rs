//! Certification of facts at places.
//!
//! Everything is made anew from the program and the facts alone: the layout, the formulas of the
//! steps, the solver. For each context it is asked whether a state in which its facts and those of
//! the contexts within it hold has a step, by one of its threads or by one outside, into a context
//! where a fact does not hold, into one that was not reached, or into a violation.
//!
//! The same facts are tried on random runs of the concrete semantics with two, three and four
//! created threads ([`tried`]), which knows nothing of contexts and formulas.

use mover_engine::{Control, EngineError};
use mover_ir::program::Program;
use mover_ir::semantics::{Machine, State};
use rustc_hash::FxHashMap;

use super::control::{Context, End, Spot};
use super::facts::{Fact, Follow, GiveUp, Move, System};
use super::predicates::Predicate;
use crate::blast::Blaster;
use crate::modular::trial::Random;
use crate::sat::{Answer, Solver};
use crate::term::{Evaluation, Term, Terms};

/// What is claimed of a context.
#[derive(Clone, Debug)]
pub struct Claim {
    pub predicates: Vec<Predicate>,
    pub facts: Vec<Fact>,
}

pub type Claims = FxHashMap<Context, Claim>;

fn wrong(what: &str) -> EngineError {
    EngineError::Internal(format!(
        "the facts for any number of threads fail their check of {what}"
    ))
}

/// Checks the claims and gives the number of steps looked at; none if a limit was reached.
pub fn check(
    system: &mut System,
    claims: &Claims,
    solver: Solver,
    limit: &Control,
) -> Result<Option<u64>, EngineError> {
    let start = system.start();
    let Some(claim) = claims.get(&start) else {
        return Err(wrong("the start"));
    };
    let values = system.at_start(&claim.predicates);
    let holds = |fact: &Fact| fact.iter().any(|&(number, value)| values[number] == value);
    if !claim.facts.iter().all(holds) {
        return Err(wrong("the start"));
    }
    let mut contexts: Vec<&Context> = claims.keys().collect();
    contexts.sort_unstable();
    let mut blaster = Blaster::new(solver);
    blaster.assert(&system.ways.terms, system.domain);
    let mut looked_at = 0;
    for &context in &contexts {
        let mut others: Vec<Spot> = contexts
            .iter()
            .filter(|other| other.fixed == context.fixed)
            .filter_map(|other| other.seats.last().copied())
            .filter(Option::is_some)
            .collect();
        others.sort_unstable();
        others.dedup();
        let own = system.own_moves(context, Follow::ALL);
        let outside = system.interference(context, &others, Follow::ALL);
        let moves: Vec<Move> = match (own, outside) {
            (Ok(own), Ok(outside)) => own.into_iter().chain(outside).collect(),
            (Err(GiveUp::Stopped), _) | (_, Err(GiveUp::Stopped)) => return Ok(None),
            _ => return Err(wrong("the program")),
        };
        for step in &moves {
            let mut all = vec![step.way.condition];
            let mut is_possible = true;
            for (source, slots) in &step.sources {
                match claims.get(source) {
                    Some(claim) => all.push(claimed(system, claim, slots)),
                    None => is_possible = false,
                }
            }
            if !is_possible {
                continue;
            }
            let broken = match claims
                .get(&step.target)
                .filter(|_| step.way.end != End::Bad)
            {
                None => Terms::TRUE,
                Some(claim) => {
                    let after = system.after(&claim.predicates, step);
                    let kept = conjunction(&mut system.ways.terms, &claim.facts, &after);
                    system.ways.terms.not(kept)
                }
            };
            all.push(broken);
            if limit.is_over() {
                return Ok(None);
            }
            looked_at += 1;
            match blaster.check(&system.ways.terms, &all) {
                Answer::Unsat => {}
                Answer::Sat => return Err(wrong("steps")),
                Answer::Stopped => return Ok(None),
            }
        }
    }
    crate::outcome::note_checks(&mut mover_engine::Proof::default(), &blaster.solver)?;
    Ok(Some(looked_at))
}

/// That a context's facts hold if its seats are these slots.
fn claimed(system: &mut System, claim: &Claim, slots: &[usize]) -> Term {
    let before = system.before(&claim.predicates, slots);
    conjunction(&mut system.ways.terms, &claim.facts, &before)
}

fn conjunction(terms: &mut Terms, facts: &[Fact], predicates: &[Term]) -> Term {
    let mut all = Vec::new();
    for fact in facts {
        let mut parts = Vec::new();
        for &(number, value) in fact {
            let holds = predicates[number];
            parts.push(if value { holds } else { terms.not(holds) });
        }
        all.push(terms.any(parts));
    }
    terms.all(all)
}

const THREADS: std::ops::RangeInclusive<usize> = 2..=4;
const NUMBERS: usize = 200;
const WALKS: usize = 30;
const STEPS: usize = 200;

/// Tries the claims on random runs; the number of states in which they were looked at.
pub fn tried(
    system: &mut System,
    program: &Program,
    claims: &Claims,
    limit: &Control,
) -> Result<u64, EngineError> {
    let mut random = Random::new();
    let mut looked_at = 0;
    for threads in THREADS {
        let few = Program {
            max_threads: (program.initial.len() + threads) as u32,
            ..program.clone()
        };
        let machine = Machine::new(&few);
        for _ in 0..WALKS {
            let mut state = machine.initial();
            // Steps of an atomic sequence are one step, and so is what they change.
            let mut seen = state.clone();
            // For each variable with a changer, who that is.
            let mut changers: Vec<Option<usize>> = vec![None; system.pool.changed.len()];
            for _ in 0..STEPS {
                if limit.is_over() {
                    return Ok(looked_at);
                }
                let steps = machine.undecided_steps(&state);
                if steps.is_empty() || machine.bound(&state).is_some() {
                    break;
                }
                let mut step = steps[random.below(steps.len() as u64) as usize];
                step.choice = random.choice(machine.choices(&state, step).unwrap_or(0));
                state = machine.apply(&state, step);
                if machine.error(&state).is_some() || machine.bound(&state).is_some() {
                    break;
                }
                if state.exclusive.is_none() {
                    note_changes(system, &seen, &state, step.by.thread, &mut changers);
                    seen = state.clone();
                    looked_at += 1;
                    look(system, &state, &changers, claims)?;
                }
            }
        }
    }
    Ok(looked_at)
}

fn note_changes(
    system: &System,
    before: &State,
    after: &State,
    mover: usize,
    changers: &mut [Option<usize>],
) {
    for (changer, &variable) in changers.iter_mut().zip(&system.pool.changed) {
        let globals = &system.program().globals[..variable];
        let cell: usize = globals.iter().map(|global| global.len as usize).sum();
        if before.globals[cell] != after.globals[cell] {
            *changer = Some(mover);
        }
        // Whoever comes later with this number is somebody else.
        if let Some(thread) = *changer
            && !matches!(after.threads.get(thread), Some(Some(_)))
        {
            *changer = None;
        }
    }
}

/// Looks at all contexts in a state.
fn look(
    system: &mut System,
    state: &State,
    changers: &[Option<usize>],
    claims: &Claims,
) -> Result<(), EngineError> {
    let (fixed, width) = (system.ways.fixed, system.ways.width);
    let spot = |thread: usize| -> Spot {
        let thread = state.threads.get(thread)?.as_ref()?;
        Some((thread.template.index(), thread.location.index()))
    };
    let created: Vec<usize> = (fixed..state.threads.len())
        .filter(|&thread| spot(thread).is_some())
        .collect();
    let mut seatings: Vec<Vec<usize>> = vec![Vec::new()];
    for seat in 0..width {
        for shorter in seatings.clone() {
            let longer = created.iter().filter(|&thread| {
                shorter.len() == seat && shorter.last().is_none_or(|last| last < thread)
            });
            for &thread in longer {
                let mut seats = shorter.clone();
                seats.push(thread);
                seatings.push(seats);
            }
        }
    }
    for seats in seatings {
        let mut threads: Vec<(Spot, usize)> =
            seats.iter().map(|&thread| (spot(thread), thread)).collect();
        threads.resize(width, (None, usize::MAX));
        let places = (0..fixed).map(spot).collect();
        let (context, mut numbers) = Context::seated(places, &threads);
        // Either of two threads at one spot may have the first seat.
        if context.has_twins() && state.threads.len().is_multiple_of(2) {
            numbers.reverse();
        }
        let Some(claim) = claims.get(&context) else {
            return Err(wrong("random runs: a context was not reached"));
        };
        // The state with the threads of the context in the slots of the formula.
        let slot = |thread: usize| {
            let seat = numbers.iter().position(|&number| number == thread);
            match seat {
                Some(seat) => Some(fixed + seat),
                None => (thread < fixed).then_some(thread),
            }
        };
        let mut few = state.clone();
        few.threads.truncate(fixed);
        few.threads.resize(fixed + width + 1, None);
        for (seat, &thread) in numbers.iter().enumerate() {
            if let Some(there) = state.threads.get(thread) {
                few.threads[fixed + seat] = there.clone();
            }
        }
        let mut offset = 0;
        for (number, global) in system.program().globals.iter().enumerate() {
            if let Some(owner) = system.rules.owners.get(&number) {
                let value = state.globals[offset];
                let named = |&thread: &usize| owner.value_of(thread as u64) == Some(value);
                // Also one that has gone, and whose slot is not there any more.
                if let Some(thread) = (0..NUMBERS).find(named) {
                    let outside = fixed + width + 1;
                    let now = owner.value_of(slot(thread).unwrap_or(outside) as u64);
                    few.globals[offset] = now.unwrap_or(value);
                }
            }
            offset += global.len as usize;
        }
        let slots: Vec<usize> = (fixed..fixed + width).collect();
        let terms = system.before(&claim.predicates, &slots);
        let mut known = FxHashMap::default();
        for (&term, value) in system.ways.now.iter().zip(system.ways.layout.encode(&few)) {
            known.extend(system.ways.terms.as_var(term).map(|var| (var, value)));
        }
        for (of_slots, &changer) in system.changers.iter().zip(changers) {
            let changer = changer.and_then(slot);
            for (slot, &term) in of_slots.iter().enumerate() {
                let value = u64::from(changer == Some(slot));
                known.extend(system.ways.terms.as_var(term).map(|var| (var, value)));
            }
        }
        let at = |var| known.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(&system.ways.terms, &at);
        for fact in &claim.facts {
            let mut parts = fact.iter();
            if !parts.any(|&(number, value)| evaluation.holds(terms[number]) == value) {
                return Err(wrong("random runs: a fact does not hold"));
            }
        }
    }
    Ok(())
}
