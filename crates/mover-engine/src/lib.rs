//! The interface of engines.
//!
//! A [`Task`] is a program with the properties to check, and everything that is computed from
//! them once: the reduction's movers, the facts for classes that are inferred during a search,
//! the unfolded program. An [`Engine`] works on a task under a [`Control`], which contains its
//! limits of time and memory and the requests to stop, each with its reason. The result is an
//! [`Outcome`]: one type for all engines, so that readers need not know which engine produced
//! it.
//!
//! Engines are in `mover-explicit` and `mover-symbolic`; `mover-check` decides which of them
//! run, and re-checks their results.

mod control;
mod outcome;
mod task;
pub mod words;

pub use control::{Cancel, CancelReason, Control, Stop};
pub use outcome::{
    BrokenClaim, Conclusion, EngineError, Outcome, Proof, ReplayError, SolverEffort, Statistics,
    Unchecked, UpTo, Violation,
};
pub use task::{Computed, PlanKey, Task};

/// Told several times a second how far an engine has come.
pub type Progress<'p> = dyn FnMut(&Statistics) + Send + 'p;

/// A way to answer a task.
pub trait Engine: Send + Sync {
    /// As `--engine` and answers call it.
    fn name(&self) -> &'static str;

    /// The reduction it is to use, by name.
    fn reduction(&self) -> &'static str;

    /// What [`Statistics::depth`] counts.
    fn unit(&self) -> &'static str;

    /// Whether the engine inspects time and memory between any two of its small steps. One that
    /// does not is run in a thread of its own and abandoned when it exceeds its limits.
    fn keeps_limits(&self) -> bool {
        false
    }

    /// Works until there is an answer or the control says stop.
    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut Progress,
    ) -> Result<Outcome, EngineError>;
}
