//! Explicit-state search.
//!
//! [`explore`] takes a program and visits every state that it can reach, one
//! step of one thread at a time, until it has seen all of them, has found a
//! violation, or has to give up. See [`search`](crate::Options) for what can be
//! asked, the module `layout` for how states are packed and `store` for how they
//! are kept.
//!
//! A model can be built in Rust; `examples/lost_update.rs` does that for two
//! threads that each read a counter and write it back with one added, and prints
//! how an update is lost. With a program at hand, all it takes is
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use mover_explicit::{Options, Order, Outcome, explore};
//! use mover_ir::program::Program;
//!
//! fn check(program: &Program) -> Result<Outcome, String> {
//!     explore(
//!         program,
//!         Options {
//!             order: Order::BreadthFirst,
//!             movers: None,
//!             run_time: None,
//!             jobs: 1,
//!             errors: true,
//!             deadlocks: true,
//!             keep_going: false,
//!             timeout: None,
//!             memory: None,
//!             interrupt: &AtomicBool::new(false),
//!             progress: &mut |_| {},
//!         },
//!     )
//! }
//! # fn main() {
//! # let location = mover_ir::program::Location { valid_end: true, ..Default::default() };
//! # let program = Program {
//! #     info: ProgramInfo::named("nothing"),
//! #     templates: vec![mover_ir::program::Template {
//! #         name: "T".into(),
//! #         params: 0,
//! #         locals: Vec::new(),
//! #         channels: Vec::new(),
//! #         locations: vec![location],
//! #         entry: mover_ir::program::LocationId(0),
//! #         span: None,
//! #     }],
//! #     pointers: mover_ir::program::PointerLayout::LP64,
//! #     pointers_stay: true,
//! #     max_threads: 1,
//! #     ..Program::default()
//! # };
//! let outcome = check(&program).expect("it fits explicit search");
//! assert!(outcome.violation.is_none() && outcome.stopped.is_none());
//! assert_eq!(outcome.statistics.states, 1);
//! # }
//! ```

mod blocks;
mod check_movers;
pub mod checkpoint;
mod classify;
mod code;
mod compile;
mod completion;
mod expand;
mod guards;
mod layout;
mod machine;
mod memory;
mod objects;
mod parallel;
mod path_reconstruction;
mod search;
mod store;
mod successors;

pub use check_movers::{Claim, Defect, MoverCheck, NotAMover, Taken, check_movers};
pub use classify::BrokenClaim;
pub use completion::{Ignoring, explore_with};
pub use search::{
    Options, Order, Outcome, RunTime, Statistics, Stop, Violation, explore,
    explore_with_checkpoints,
};
