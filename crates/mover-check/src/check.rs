//! The front door of the library: a question in one line.

use std::sync::Arc;
use std::time::Duration;

use mover_engine::{Cancel, Task};
use mover_ir::program::{Program, Property};
use mover_ir::validate::validate;

use crate::answer::Answer;
use crate::driver::{self, CheckError};
use crate::observer::{Nobody, Observer};
use crate::options::{EngineChoice, Options, ReductionChoice};

/// A question that is being put together; [`Check::run`] asks it.
pub struct Check<'a> {
    program: &'a Program,
    properties: Vec<Property>,
    options: Options,
    cancel: Cancel,
    observer: &'a dyn Observer,
}

/// Asks about a program. Without further words: can an assertion fail, is there a deadlock, by the
/// engines that mover chooses, on one core, without limits.
pub fn check(program: &Program) -> Check<'_> {
    Check {
        program,
        properties: Vec::new(),
        options: Options::default(),
        cancel: Cancel::default(),
        observer: &Nobody,
    }
}

impl<'a> Check<'a> {
    /// Asks for this property; may be said several times. Without it, [`Property::BASIC`].
    pub fn property(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    pub fn engine(mut self, engine: EngineChoice) -> Self {
        self.options.engine = engine;
        self
    }

    pub fn reduction(mut self, reduction: ReductionChoice) -> Self {
        self.options.reduction = Some(reduction);
        self
    }

    /// How many threads of this process may work on the answer.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.jobs = threads.max(1);
        self
    }

    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Bytes that the search may take.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.options.memory = Some(bytes);
        self
    }

    /// Have the answer checked once more, by all means there are.
    pub fn certify(mut self) -> Self {
        self.options.certify = true;
        self
    }

    /// Everything else; what was said before is replaced.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// A request from elsewhere that ends the search with what is known by then.
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    pub fn observed_by(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Searches, re-checks and answers.
    pub fn run(self) -> Result<Answer, CheckError> {
        validate(self.program)
            .map_err(|error| CheckError::Unsupported(format!("not a valid program: {error}")))?;
        let properties = if self.properties.is_empty() {
            usual_properties(self.program)
        } else {
            self.properties
        };
        let task = Task::new(self.program.clone(), properties)
            .keep_dead_values(self.options.keep_dead_values);
        driver::answer(&Arc::new(task), &self.options, &self.cancel, self.observer)
    }
}

/// What is asked of a program if nobody says what: assertions, deadlocks, and its temporal claims.
pub fn usual_properties(program: &Program) -> Vec<Property> {
    let mut properties = Property::BASIC.to_vec();
    if !program.info.claims.is_empty() {
        properties.push(Property::Claims);
    }
    properties
}
