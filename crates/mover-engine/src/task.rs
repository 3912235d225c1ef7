//! A program and its properties, with everything that is computed from them once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mover_ir::program::{MemoryAccess, Program, Property};
use mover_reduce::facts::pointer_provenance::pointers_stay;
use mover_reduce::facts::races;
use mover_reduce::facts::thread_bound::most_threads;
use mover_reduce::movers_between_timeouts;
use mover_reduce::transform::claim_edges::claim_edges;
use mover_reduce::transform::race_edges::{TooManyRaces, race_edges};
use mover_reduce::transform::repeated_creation::{
    NotRepeatable, forget_thread_limit, repeated_creation,
};
use mover_reduce::transform::unfold::{Unfolded, unfold};
use mover_reduce::{Heuristics, Movers, NoMovers, PhaseFacts, Reduction, ReductionPlan};

/// A program, what is asked of it, and what several parts of mover need to know about it. Each
/// thing is computed on first use, and then shared.
pub struct Task {
    program: Program,
    properties: Vec<Property>,
    keep_dead_values: bool,
    movers: OnceLock<Result<Movers, NoMovers>>,
    facts: OnceLock<PhaseFacts>,
    plan: OnceLock<ReductionPlan>,
    /// The program and the unfolded program, where it had to be noted that their pointers stay.
    staying: [OnceLock<Option<Program>>; 2],
    to_encode: Mutex<Vec<(PlanKey, Arc<ReductionPlan>)>>,
    unfolded: OnceLock<Option<Unfolded>>,
    races_as_errors: OnceLock<Result<Box<Task>, TooManyRaces>>,
    /// If proofs for any number of threads are asked for: the task about the program in which every
    /// creation may happen any number of times.
    any_number: Option<Result<Arc<Task>, NotRepeatable>>,
    /// The accesses of each location of each template, where data races are not asked for.
    set_aside: Vec<Vec<Vec<MemoryAccess>>>,
    computed: [AtomicU32; 4],
}

/// With more threads than this, the plan for explicit search has no conditions on the other threads.
const MOST_THREADS: u32 = 20;

/// Which plan of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanKey {
    pub unfold: bool,
    pub reduction: Reduction,
    pub heuristics: Heuristics,
    /// How many thread numbers are encoded.
    pub threads: usize,
}

/// How often things were computed; never more than once each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Computed {
    pub movers: u32,
    pub facts: u32,
    pub unfoldings: u32,
    pub plans: u32,
}

impl Task {
    /// Where `unreach-call` is asked for, breaches of claimed exclusive access are failed assertions;
    /// where it is not, failed assertions have no effect.
    pub fn new(mut program: Program, properties: Vec<Property>) -> Task {
        if properties.contains(&Property::UnreachCall) {
            claim_edges(&mut program);
        } else {
            program.resume_after_errors();
        }
        Task::unchanged(program, properties)
    }

    /// The same for the program as it is: a failed assertion ends the run, asked for or not.
    pub fn unchanged(mut program: Program, mut properties: Vec<Property>) -> Task {
        properties.sort();
        properties.dedup();
        let mut set_aside = Vec::new();
        if properties.contains(&Property::NoDataRace) {
            races::prepare(&mut program);
        } else if program.has_accesses() {
            set_aside = take_accesses(&mut program);
        }
        Task {
            program,
            properties,
            keep_dead_values: false,
            movers: OnceLock::new(),
            facts: OnceLock::new(),
            plan: OnceLock::new(),
            staying: Default::default(),
            to_encode: Mutex::default(),
            unfolded: OnceLock::new(),
            races_as_errors: OnceLock::new(),
            any_number: None,
            set_aside,
            computed: Default::default(),
        }
    }

    /// Tells states apart by dead values, too, where explicit search uses a reduction.
    pub fn keep_dead_values(mut self, keep: bool) -> Task {
        self.keep_dead_values = keep;
        self
    }

    /// The same as [`Task::new`], and proofs for any number of threads are asked for.
    pub fn for_any_number(mut program: Program, properties: Vec<Property>) -> Task {
        forget_thread_limit(&mut program);
        // Of the program as it is: what is known of the accesses of as many threads as written does
        // not hold for more.
        let repeated = repeated_creation(&program);
        let any_number = repeated.map(|program| Arc::new(Task::new(program, properties.clone())));
        Task {
            any_number: Some(any_number),
            ..Task::new(program, properties)
        }
    }

    /// The task for any number of threads, if that is asked for; the error says why there is none.
    pub fn any_number(&self) -> Option<Result<&Arc<Task>, &NotRepeatable>> {
        self.any_number.as_ref().map(Result::as_ref)
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Whether failed assertions count. Errors of other properties always do: a front end makes
    /// them only where they are asked for.
    pub fn asks_for_errors(&self) -> bool {
        self.properties.contains(&Property::UnreachCall)
    }

    pub fn asks_for_deadlocks(&self) -> bool {
        self.properties.contains(&Property::NoDeadlock)
    }

    /// What moves; the error says why nothing does.
    pub fn movers(&self) -> Result<&Movers, NoMovers> {
        if self.program.uses_timeout() {
            return Err(NoMovers::Timeout);
        }
        self.movers_between_timeouts()
    }

    /// The same for a search that treats `timeout` separately ([`movers_between_timeouts`]).
    pub fn movers_between_timeouts(&self) -> Result<&Movers, NoMovers> {
        let movers = self.movers.get_or_init(|| {
            self.count(0);
            movers_between_timeouts(&self.program, self.keep_dead_values)
        });
        movers.as_ref().map_err(|reason| *reason)
    }

    /// What it takes to classify steps while a search runs; none if nothing moves.
    pub fn facts(&self) -> Option<&PhaseFacts> {
        let movers = self.movers_between_timeouts().ok()?;
        Some(self.facts.get_or_init(|| {
            self.count(1);
            PhaseFacts::new(movers)
        }))
    }

    /// The plan of the reduction `dynamic` for the program that [`Task::movers_between_timeouts`] is about;
    /// none if nothing moves.
    pub fn plan(&self) -> Option<&ReductionPlan> {
        let movers = self.movers_between_timeouts().ok()?;
        Some(self.plan.get_or_init(|| {
            self.count(3);
            let threads = most_threads(&movers.fused.program);
            // The conditions name every thread.
            let reduction = if threads <= MOST_THREADS && !ReductionPlan::is_dear(movers) {
                Reduction::Dynamic
            } else {
                Reduction::Phase
            };
            ReductionPlan::of(movers, reduction, Heuristics::ALL, Some(threads as usize))
        }))
    }

    /// The program with its first thread's loops unrolled, if that can be done.
    pub fn unfolded(&self) -> Option<&Unfolded> {
        let unfolded = self.unfolded.get_or_init(|| {
            self.count(2);
            unfold(&self.program)
        });
        unfolded.as_ref()
    }

    /// The program that symbolic engines encode: unfolded if asked for and possible.
    pub fn program_to_encode(&self, unfold: bool) -> &Program {
        let unfolded = unfold.then(|| self.unfolded()).flatten();
        let program = unfolded.map_or(&self.program, |unfolded| &unfolded.program);
        let staying = self.staying[usize::from(unfolded.is_some())].get_or_init(|| {
            (!program.pointers_stay && pointers_stay(program)).then(|| Program {
                pointers_stay: true,
                ..program.clone()
            })
        });
        staying.as_ref().unwrap_or(program)
    }

    /// The plan of that program.
    pub fn plan_to_encode(&self, key: PlanKey) -> Arc<ReductionPlan> {
        let mut plans = self
            .to_encode
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = plans.iter().find(|(known, _)| *known == key) {
            return Arc::clone(plan);
        }
        let program = self.program_to_encode(key.unfold);
        let plan = ReductionPlan::new(program, key.reduction, key.heuristics, key.threads);
        let plan = Arc::new(plan);
        plans.push((key, Arc::clone(&plan)));
        plan
    }

    /// Whether data races are asked for and some access may be part of one.
    pub fn asks_for_races(&self) -> bool {
        self.properties.contains(&Property::NoDataRace) && self.program.has_accesses()
    }

    /// The task whose program has its data races as errors, for engines that know only errors; the
    /// error says why there is none.
    pub fn races_as_errors(&self) -> Result<&Task, TooManyRaces> {
        let task = self.races_as_errors.get_or_init(|| {
            let program = race_edges(&self.program)?;
            let task = Task::unchanged(program, self.properties.clone());
            Ok(Box::new(task.keep_dead_values(self.keep_dead_values)))
        });
        match task {
            Ok(task) => Ok(task),
            Err(too_many) => Err(*too_many),
        }
    }

    /// The question whether the program has data races, if it was not asked and may be answered by yes.
    pub fn about_races(&self) -> Option<Task> {
        if self.set_aside.is_empty() {
            return None;
        }
        let mut program = self.program.clone();
        for (template, accesses) in program.templates.iter_mut().zip(&self.set_aside) {
            for (location, accesses) in template.locations.iter_mut().zip(accesses) {
                location.accesses.clone_from(accesses);
            }
        }
        let asked = vec![Property::UnreachCall, Property::NoDataRace];
        let task = Task::unchanged(program, asked);
        task.asks_for_races().then_some(task)
    }

    fn count(&self, what: usize) {
        self.computed[what].fetch_add(1, Ordering::Relaxed);
    }

    pub fn computed(&self) -> Computed {
        let [movers, facts, unfoldings, plans] = &self.computed;
        Computed {
            movers: movers.load(Ordering::Relaxed),
            facts: facts.load(Ordering::Relaxed),
            unfoldings: unfoldings.load(Ordering::Relaxed),
            plans: plans.load(Ordering::Relaxed),
        }
    }
}

/// Removes the accesses that count for data races; by template and location.
fn take_accesses(program: &mut Program) -> Vec<Vec<Vec<MemoryAccess>>> {
    let templates = program.templates.iter_mut();
    templates
        .map(|template| {
            let locations = template.locations.iter_mut();
            locations
                .map(|location| std::mem::take(&mut location.accesses))
                .collect()
        })
        .collect()
}
