//! Explicit-state search.
//!
//! [`Explicit`] visits every state that a program can reach, one transaction of one thread at a
//! time, until it has seen all of them, has found a violation, or has to give up; [`Completion`]
//! does the same with commit point completion. See the module `search` for the order of the
//! search, `blocks` for transactions, `layout` for how states are packed and `store` for how they
//! are kept.
//!
//! Both are [engines](mover_engine::Engine): they take a task and a control, and give an outcome.
//!
//! ```
//! use mover_engine::{Conclusion, Control, Engine, Task};
//! use mover_explicit::Explicit;
//! use mover_ir::program::{Location, Program, Property, Template};
//!
//! let nothing = Program {
//!     templates: vec![Template {
//!         name: "T".into(),
//!         locations: vec![Location { valid_end: true, ..Location::default() }],
//!         ..Template::default()
//!     }],
//!     ..Program::default()
//! };
//! let task = Task::new(nothing, Property::BASIC.to_vec());
//! let outcome = Explicit::default().run(&task, &Control::unlimited(), &mut |_| ())?;
//! assert_eq!(outcome.conclusion, Conclusion::Safe { up_to: Vec::new() });
//! assert_eq!(outcome.statistics.states, 1);
//! # Ok::<(), mover_engine::EngineError>(())
//! ```

mod approximate;
mod blocks;
mod check_movers;
pub mod checkpoint;
mod classify;
mod code;
mod compile;
mod completion;
pub mod distributed;
mod engine;
mod expand;
mod guards;
mod layout;
pub mod liveness;
mod machine;
mod memory;
mod objects;
mod parallel;
mod path_reconstruction;
mod persistent;
mod races;
pub mod reached;
mod search;
mod shared_store;
mod store;
mod successors;

pub use approximate::{Approximate, Remembered};
pub use check_movers::{Claim, Defect, MoverCheck, NotAMover, Taken, check_movers};
pub use completion::Ignoring;
pub use engine::{CheckpointOptions, Completion, Explicit, Save};
pub use search::Order;
