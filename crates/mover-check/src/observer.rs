//! The interface for progress reports of running engines.

use mover_engine::{Engine, Statistics};

/// Told of what happens on the way to an answer, from several threads.
pub trait Observer: Sync {
    fn begin(&self, _engine: &dyn Engine) {}

    /// Several times a second.
    fn progress(&self, _engine: &dyn Engine, _statistics: &Statistics) {}

    fn end(&self, _engine: &dyn Engine) {}

    /// Something that the user should know although it is not a part of the answer.
    fn note(&self, _message: &str) {}
}

/// An observer that ignores everything.
pub struct Nobody;

impl Observer for Nobody {}
