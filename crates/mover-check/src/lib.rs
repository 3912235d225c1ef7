//! The driver of mover: from a question about a program to a re-checked answer.
//!
//! # A tutorial
//!
//! A program comes from a front end (`mover-promela`, `mover-c`) or is written in Rust with
//! [`mover_ir::builder::ProgramBuilder`]. [`check()`] asks about it:
//!
//! ```
//! use mover_check::answer::Verdict;
//! use mover_ir::builder::ProgramBuilder;
//! use mover_ir::expr::Ty;
//!
//! let mut model = ProgramBuilder::new("lost update");
//! let counter = model.global("counter", Ty::BYTE);
//! let worker = model.thread("worker", |t| {
//!     let own = t.local("own", Ty::BYTE);
//!     t.assign(own, counter);
//!     t.assign(counter, own + 1);
//! });
//! model.main(|t| {
//!     let (a, b) = (t.spawn(worker), t.spawn(worker));
//!     t.join(a);
//!     t.join(b);
//!     t.assert(counter.eq(2), "both updates count");
//! });
//! let answer = mover_check::check(&model.build()?).run()?;
//!
//! let Verdict::Unsafe(trace) = answer.verdict else { panic!("an update can be lost") };
//! // One sentence says what happened; the trace has the steps, with what each of them changed.
//! assert!(trace.story.sentence.contains("counter"), "{}", trace.story.sentence);
//! assert_eq!(trace.context_switches(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An answer is a verdict with what it rests on: [`answer::Verdict::Safe`] for all runs,
//! [`answer::Verdict::SafeUpTo`] a bound, [`answer::Verdict::Unsafe`] with a run that the concrete
//! semantics has replayed, or [`answer::Verdict::Unknown`] with the reason and what to try. A proof
//! can be asked for by other means, with limits, on several cores:
//!
//! ```
//! # use mover_ir::builder::ProgramBuilder;
//! # use mover_ir::expr::Ty;
//! use mover_check::answer::Verdict;
//! use mover_check::{EngineChoice, ReductionChoice};
//! use mover_ir::program::Property;
//! use std::time::Duration;
//!
//! # let mut model = ProgramBuilder::new("counter");
//! # let counter = model.global("counter", Ty::BYTE);
//! # let lock = model.mutex("lock");
//! # let worker = model.thread("worker", |t| {
//! #     let own = t.local("own", Ty::BYTE);
//! #     t.lock(lock);
//! #     t.assign(own, counter);
//! #     t.assign(counter, own + 1);
//! #     t.unlock(lock);
//! # });
//! # model.main(|t| {
//! #     let (a, b) = (t.spawn(worker), t.spawn(worker));
//! #     t.join(a);
//! #     t.join(b);
//! #     t.assert(counter.eq(2), "both updates count");
//! # });
//! # let program = model.build()?;
//! // The same counter with a lock around it.
//! let answer = mover_check::check(&program)
//!     .property(Property::UnreachCall)
//!     .engine(EngineChoice::Ic3)
//!     .reduction(ReductionChoice::Static)
//!     .timeout(Duration::from_secs(60))
//!     .certify()
//!     .run()?;
//! assert_eq!(answer.verdict, Verdict::Safe);
//! assert!(!answer.invariant.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `mover-report` turns an answer into text, JSON or a page; `examples/` has a model in Rust, a
//! Promela model and a C program, each from source to printed story.
//!
//! # How it works
//!
//! - [`Options`] say how to answer; [`strategy`] makes stages of engines with budgets of them.
//! - [`answer()`](fn@answer) runs the stages: engines race, each held to its limits ([`watch`](mod@watch)).
//! - What comes out is re-checked: violations are replayed ([`trace`]), shortened ([`shorten`](mod@shorten)), told
//!   ([`story`]) and cut into transactions ([`fold`]); `safe` can be certified by a walk through all
//!   states ([`recheck`](mod@recheck)).
//! - Beside answers: [`mover_trial`] tries what a reduction counts on, [`ledger`](mod@ledger) measures what each
//!   reduction saves.

pub mod answer;
mod bounds;
mod check;
mod claims;
mod driver;
mod engines;
pub mod explore;
pub mod fold;
pub mod forbidden;
mod forgotten;
pub mod formula;
pub mod invariant;
pub mod ledger;
pub mod memory;
pub mod moments;
pub mod mover_trial;
mod observer;
mod options;
mod races;
pub mod recheck;
mod sequential;
pub mod shorten;
pub mod spin_trail;
pub mod story;
pub mod strategy;
mod sync_objects;
pub mod temporal;
pub mod trace;
pub mod unreached;
mod vacuous;
pub mod watch;

pub use mover_engine::words;
pub use mover_reduce::present::explain as explanation;
pub use mover_reduce::present::plan_text::plan_text;

pub use check::{Check, check, usual_properties};
pub use driver::{CheckError, answer, take_part};
pub use engines::{dump_bounded, dump_invariant};
pub use observer::{Nobody, Observer};
pub use options::{EngineChoice, Options, ReductionChoice};
pub use strategy::{Features, Strategy};

pub use mover_explicit::CheckpointOptions;
pub use mover_explicit::liveness::Fairness;
pub use mover_symbolic::SymbolicOptions;

/// The largest memory that the process has had, in megabytes, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((kilobytes / 1024.0 * 10.0).round() / 10.0)
}
