//! Explicit search as engines.
//!
//! [`Explicit`] searches with chain blocks, or step by step without a reduction; [`Completion`]
//! is the search with commit point completion and the other solutions of the ignoring problem
//! to which Levin et al. (2005) compare it. The program and its movers come from the [`Task`]
//! alone.

use std::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mover_engine::words::grouped;
use mover_engine::{
    Conclusion, Control, Engine, EngineError, Outcome, Progress, Stop, Task, Unchecked,
};
use mover_ir::program::Property;
use mover_reduce::{Movers, NoMovers, Reduction};

use crate::checkpoint::{Checkpoints, Identity, Snapshot};
use crate::completion::{self, Ignoring};
use crate::distributed::Peers;
use crate::search::{self, Options, Order, RunTime, Searched, Wanted};

/// Writes a checkpoint.
pub type Save = Box<dyn FnMut(&Snapshot) + Send>;

/// How a search is saved and continued.
pub struct CheckpointOptions {
    pub identity: Identity,
    pub every: Duration,
    /// Writes one; absent if none are wanted. A failure is the callback's business.
    pub save: Option<Mutex<Save>>,
    /// One to continue from, as [`crate::checkpoint::open`] leaves it. It is read once.
    pub resume: Mutex<Option<Box<dyn Read + Send>>>,
    /// How to continue from the one that was written last, if one was.
    pub advice: Box<dyn Fn() -> Option<String> + Send + Sync>,
}

impl fmt::Debug for CheckpointOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckpointOptions")
            .field("identity", &self.identity)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

/// Search through all states, with chain blocks where a reduction is requested.
#[derive(Clone, Debug)]
pub struct Explicit {
    pub reduction: Reduction,
    /// Whether right movers are left out, as Stoller and Cohen do; goes with `Static`.
    pub left_only: bool,
    pub order: Order,
    /// Expand only a persistent set of threads where there is one; goes with `Dynamic`.
    pub persistent: bool,
    /// Cores to use; depth first it is always one.
    pub jobs: usize,
    /// Several cores expand a level of the search together if it has so many states for each core but the first;
    /// otherwise one of them does, while the others sleep.
    pub narrow: usize,
    /// Do not stop at a violation; continue after a failed assertion as if it had held.
    pub keep_going: bool,
    /// Stop at the first violation, instead of searching on for those of other properties.
    pub first: bool,
    pub checkpoints: Option<Arc<CheckpointOptions>>,
    /// The other processes of a distributed search; they are taken once.
    pub peers: Option<Arc<Mutex<Option<Peers>>>>,
    /// Whether a reduction that stores most of the states is dropped after a short trial.
    pub may_drop: bool,
}

impl Default for Explicit {
    /// Without reduction, breadth first, on one core.
    fn default() -> Self {
        Explicit {
            reduction: Reduction::None,
            left_only: false,
            order: Order::BreadthFirst,
            persistent: true,
            jobs: 1,
            narrow: 128,
            keep_going: false,
            first: false,
            checkpoints: None,
            peers: None,
            may_drop: false,
        }
    }
}

/// Commit point completion, or another answer to the ignoring problem. It searches depth first, on
/// one core.
#[derive(Clone, Debug)]
pub struct Completion {
    pub search: Explicit,
    pub ignoring: Ignoring,
}

/// The movers that a search goes by.
enum Plan<'t> {
    Without { declined: Option<String> },
    By(&'t Movers),
    Own(Box<Movers>),
}

impl Plan<'_> {
    fn movers(&self) -> Option<&Movers> {
        match self {
            Plan::Without { .. } => None,
            Plan::By(movers) => Some(movers),
            Plan::Own(movers) => Some(movers),
        }
    }
}

impl Explicit {
    fn plan<'t>(&self, task: &'t Task) -> Plan<'t> {
        if self.reduction == Reduction::None {
            return Plan::Without { declined: None };
        }
        match task.movers_between_timeouts() {
            Ok(movers) if self.left_only => Plan::Own(Box::new(movers.clone().left_only())),
            Ok(movers) => Plan::By(movers),
            Err(reason) => Plan::Without {
                declined: Some(reason.to_string()),
            },
        }
    }

    fn run_time<'t>(&self, task: &'t Task) -> Option<RunTime<'t>> {
        match self.reduction {
            Reduction::None | Reduction::Static => None,
            Reduction::Phase | Reduction::Dynamic => Some(RunTime {
                facts: task.facts()?,
                plan: match self.reduction {
                    Reduction::Dynamic => Some(task.plan()?),
                    _ => None,
                },
            }),
        }
    }

    fn outcome(&self, plan: &Plan, searched: Searched, ignoring: Option<Ignoring>) -> Outcome {
        let is_reduced = plan.movers().is_some();
        let is_sound = ignoring.is_none_or(Ignoring::is_sound);
        let advice = self.checkpoints.as_ref().and_then(|all| (all.advice)());
        let rest = conclusion(&searched, is_sound || !is_reduced, advice);
        let mut violations = searched.violations.into_iter();
        let (conclusion, others) = match violations.next() {
            // Commit point completion stops at the first violation. A search that continues behind
            // failed assertions counts violations, but keeps one run only.
            Some(first) => {
                let goes_on = !self.first && !self.keep_going && ignoring.is_none();
                (Conclusion::Unsafe(first), goes_on.then_some(rest))
            }
            None => (rest, None),
        };
        Outcome {
            conclusion,
            further: violations.filter(|_| !self.keep_going).collect(),
            others,
            unchecked: Vec::new(),
            bounds: searched.bounds,
            statistics: searched.statistics,
            reduction: if is_reduced {
                self.reduction()
            } else {
                Reduction::None.name()
            },
            ignoring: is_reduced.then_some(ignoring.map_or("blocks", Ignoring::name)),
            declined: match plan {
                Plan::Without { declined } => declined.clone(),
                _ => None,
            },
            proof: None,
            broken_claims: searched.broken_claims,
        }
    }
}

fn conclusion(searched: &Searched, is_sound: bool, way_on: Option<String>) -> Conclusion {
    let states = searched.statistics.states;
    if let Some(lost) = &searched.lost {
        return Conclusion::Refused {
            reason: lost.clone(),
            advice: "starting all processes again".into(),
        };
    }
    if searched.gave_up {
        return Conclusion::Refused {
            reason: format!(
                "the search ended after {} states, some time after the first violation",
                grouped(states)
            ),
            advice: "asking for this property alone".into(),
        };
    }
    match (searched.stopped, &searched.refusal) {
        (None, _) if is_sound => Conclusion::Safe { up_to: Vec::new() },
        (None, _) => Conclusion::Refused {
            reason: format!(
                "`--ignoring unsound` misses errors after transactions that never end; \
                 no violation was met in {} states",
                grouped(states)
            ),
            advice: "`--ignoring cpc`, or omitting the option".into(),
        },
        (Some(_), Some(refusal)) => Conclusion::Refused {
            reason: format!(
                "{refusal}; no violation among the {} states before it",
                grouped(states)
            ),
            advice: "another engine, or a program with smaller parameters".into(),
        },
        (Some(stop), None) => {
            let smaller = "a model with smaller parameters";
            let mut advice: Vec<String> = way_on.into_iter().collect();
            if stop != Stop::StoreFull {
                advice.push(stop.advice().into());
            }
            advice.push(if advice.is_empty() {
                smaller.into()
            } else {
                format!("or {smaller}")
            });
            Conclusion::Stopped {
                stop,
                so_far: format!(" after {} states, no violation among them", grouped(states)),
                advice: advice.join(", "),
            }
        }
    }
}

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn reduction(&self) -> &'static str {
        if self.left_only {
            "left"
        } else {
            self.reduction.name()
        }
    }

    fn unit(&self) -> &'static str {
        "steps"
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError> {
        let plan = self.plan(task);
        let may_drop = self.may_drop
            && plan.movers().is_some()
            && self.checkpoints.is_none()
            && self.peers.is_none();
        let options = Options {
            order: self.order,
            movers: plan.movers(),
            run_time: plan.movers().and_then(|_| self.run_time(task)),
            persistent: self.persistent,
            jobs: self.jobs,
            narrow: self.narrow,
            errors: task.asks_for_errors(),
            deadlocks: task.asks_for_deadlocks(),
            races: task.properties().contains(&Property::NoDataRace),
            wanted: Wanted {
                properties: task.properties(),
                first: self.first,
            },
            may_drop,
            keep_going: self.keep_going,
            control,
            progress: &mut *progress,
        };
        let searched = match &self.checkpoints {
            None => {
                let peers = match &self.peers {
                    None => None,
                    Some(peers) => {
                        let peers = peers.lock().unwrap_or_else(PoisonError::into_inner).take();
                        let is_gone =
                            || EngineError::Internal("a distributed search runs only once".into());
                        Some(peers.ok_or_else(is_gone)?)
                    }
                };
                search::explore(task.program(), options, None, peers)
            }
            Some(all) => {
                let lock = |save: &Mutex<Save>, snapshot: &Snapshot| {
                    let mut save = save.lock().unwrap_or_else(PoisonError::into_inner);
                    (*save)(snapshot);
                };
                let mut save = all
                    .save
                    .as_ref()
                    .map(|save| move |snapshot: &Snapshot| lock(save, snapshot));
                let resume = all
                    .resume
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                let checkpoints = Checkpoints {
                    identity: all.identity.clone(),
                    every: all.every,
                    save: save.as_mut().map(|save| save as &mut dyn FnMut(&Snapshot)),
                    resume: resume.map(|resume| resume as Box<dyn Read>),
                };
                search::explore(task.program(), options, Some(checkpoints), None)
            }
        };
        let searched = searched?;
        if let Some(share) = searched.dropped {
            let unreduced = Explicit {
                reduction: Reduction::None,
                may_drop: false,
                ..self.clone()
            };
            let tried = searched.statistics;
            let mut outcome = unreduced.run(task, control, progress)?;
            outcome.statistics.time += tried.time;
            outcome.declined = Some(format!(
                "a trial of {} states showed that about {:.0} % of the states would be stored",
                grouped(tried.states),
                100.0 * share
            ));
            return Ok(outcome);
        }
        Ok(self.outcome(&plan, searched, None))
    }
}

impl Engine for Completion {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn reduction(&self) -> &'static str {
        self.search.reduction()
    }

    fn unit(&self) -> &'static str {
        self.search.unit()
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError> {
        if task.program().uses_timeout() {
            let unreduced = Explicit {
                reduction: Reduction::None,
                ..self.search.clone()
            };
            let mut outcome = unreduced.run(task, control, progress)?;
            outcome.declined = Some(NoMovers::Timeout.to_string());
            return Ok(outcome);
        }
        let plan = self.search.plan(task);
        let Some(movers) = plan.movers() else {
            // Without transactions there is nothing to ignore.
            return self.search.run(task, control, progress);
        };
        let options = Options {
            order: Order::DepthFirst,
            movers: Some(movers),
            run_time: self.search.run_time(task),
            persistent: false,
            jobs: 1,
            narrow: 0,
            errors: task.asks_for_errors(),
            deadlocks: task.asks_for_deadlocks(),
            races: false,
            wanted: Wanted {
                properties: task.properties(),
                first: true,
            },
            may_drop: false,
            keep_going: self.search.keep_going,
            control,
            progress,
        };
        let searched = completion::explore(self.ignoring, movers, options)?;
        let mut outcome = self.search.outcome(&plan, searched, Some(self.ignoring));
        let asks_for_races = task.properties().contains(&Property::NoDataRace);
        if asks_for_races && task.program().has_accesses() {
            outcome.unchecked.push(Unchecked {
                property: Property::NoDataRace,
                reason: format!(
                    "`--ignoring {}` does not look for data races",
                    self.ignoring.name()
                ),
                advice: "omitting the option".into(),
            });
        }
        Ok(outcome)
    }
}
