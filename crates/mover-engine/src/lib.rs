//! What an engine is asked and what it answers.
//!
//! A [`Task`] is a program with the properties asked for, and everything that is computed from
//! them once: the reduction's movers, the facts for classes found during a search, the unfolded
//! program. An [`Engine`] works on a task under a [`Control`], which carries its limits of time and
//! memory and the requests to stop, each with its reason. What it found out is an [`Outcome`]: one
//! type for all engines, so that nobody who reads it has to know who wrote it.
//!
//! Engines live in `mover-explicit` and `mover-symbolic`; `mover-check` decides which of them run,
//! and re-checks what they say.

mod control;
mod outcome;
mod task;

pub use control::{Cancel, CancelReason, Control, Stop};
pub use outcome::{
    BrokenClaim, Conclusion, EngineError, Outcome, Proof, ReplayError, SolverEffort, Statistics,
    UpTo, Violation,
};
pub use task::{Computed, Task};

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
    fn keeps_limits(&self) -> bool;

    /// Works until there is an answer or the control says stop. `progress` is called several times
    /// a second.
    fn run(
        &self,
        task: &Task,
        control: &Control,
        progress: &mut (dyn FnMut(&Statistics) + Send),
    ) -> Result<Outcome, EngineError>;
}
