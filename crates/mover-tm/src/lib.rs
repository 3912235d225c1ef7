//! Transactional memories: are they safe, are they live, for how many threads?
//!
//! After Guerraoui, Henzinger, Singh: *Model checking transactional memories*
//! (Distributed Computing 2010). A TM algorithm is written down in a small
//! language ([`language`]); [`algorithm`] gives its transitions and [`graph`]
//! its states. Safety ([`inclusion`]) is inclusion of its words in a
//! specification, liveness ([`liveness`]) the absence of bad loops, and
//! [`check`] puts together a verdict with its scope and its explanation.
//!
//! The definition of Section 2.3 is the judge, literally: [`judge`]. Measured
//! by it are the specification that checks use ([`monitor`], for any number of
//! threads and variables), the conflict graph that explains ([`conflict_graph`],
//! [`explain`]), and the paper's own specifications ([`spec_det`],
//! [`spec_nondet`], compared by [`antichain`]s).
//!
//! ```
//! use mover_source::SourceMap;
//! use mover_tm::check::{Options, Verdict, check};
//! use mover_tm::property::Property;
//!
//! let mut sources = SourceMap::default();
//! let file = sources.add(
//!     "one-at-a-time.tm",
//!     "algorithm one_at_a_time;
//!      global { busy: thread or none; }
//!      require busy = none or busy = t;
//!      on read(v) { do read { busy := t; } }
//!      on write(v) { do write { busy := t; } }
//!      on commit { do commit { busy := none; } }
//!      on abort { if busy = t { busy := none; } }",
//! );
//! let program = mover_tm::language::load(&sources, file).unwrap();
//! let opacity = Property::from_name("opacity").unwrap();
//! let report = check(&program, opacity, &Options::default()).unwrap();
//! assert_eq!(report.verdict, Verdict::Holds);
//! ```

pub mod algorithm;
pub mod antichain;
pub mod automaton;
pub mod bystanders;
pub mod check;
pub mod conflict_graph;
pub mod dot;
pub mod evaluate;
pub mod explain;
pub mod extended;
pub mod extended_monitor;
pub mod graph;
pub mod history;
pub mod history_cycle;
pub mod history_search;
pub mod inclusion;
pub mod judge;
pub mod language;
pub mod layout;
pub mod liveness;
pub mod monitor;
pub mod monotonicity;
pub mod mutate;
pub mod property;
pub mod recorded;
pub mod snapshot;
pub mod spec_det;
pub mod spec_nondet;
pub mod specifications;
pub mod store;
pub mod structure;
pub mod times;
pub mod word;
