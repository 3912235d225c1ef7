//! The one intermediate language of mover and its one concrete meaning.
//!
//! - [`builder`]: programs written as Rust code;
//! - [`program`]: what a program consists of, [`expr`]: its expressions;
//! - [`validate`]: which programs are well-formed;
//! - [`semantics`]: what a program does, state by state;
//! - [`mod@eval`]: expressions evaluated in any domain of values, [`simplify`]: expressions made
//!   simpler, [`graph`]: questions about control-flow graphs;
//! - [`mod@print`]: programs as text, [`literal`]: guards as conjunctions of literals.
//!
//! # A tutorial
//!
//! Two threads count in the same variable. Each reads it, and writes it back with one added. Do both
//! count? [`builder::ProgramBuilder`] writes that down:
//!
//! ```
//! use mover_ir::builder::ProgramBuilder;
//! use mover_ir::expr::Ty;
//! use mover_ir::semantics::Machine;
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
//! let program = model.build()?;
//!
//! // The semantics gives the steps of a state; here is a search of all states that takes nothing
//! // else. The engines of mover do the same for programs of real size.
//! let machine = Machine::new(&program);
//! let mut states = vec![machine.initial()];
//! let mut errors = Vec::new();
//! let mut next = 0;
//! while let Some(state) = states.get(next).cloned() {
//!     next += 1;
//!     errors.extend(machine.error(&state).map(|(_, error)| &error.message));
//!     for (_step, successor) in machine.successors(&state) {
//!         if !states.contains(&successor) {
//!             states.push(successor);
//!         }
//!     }
//! }
//! assert!(errors.contains(&&"both updates count".to_string()));
//! # Ok::<(), mover_ir::builder::BuildError>(())
//! ```
//!
//! A mutex mends it. Between `lock` and `unlock` no other thread counts:
//!
//! ```
//! # use mover_ir::builder::ProgramBuilder;
//! # use mover_ir::expr::Ty;
//! # let mut model = ProgramBuilder::new("counter");
//! # let counter = model.global("counter", Ty::BYTE);
//! let lock = model.mutex("lock");
//! let worker = model.thread("worker", |t| {
//!     let own = t.local("own", Ty::BYTE);
//!     t.lock(lock);
//!     t.assign(own, counter);
//!     t.assign(counter, own + 1);
//!     t.unlock(lock);
//! });
//! # model.start(worker);
//! # model.build().expect("it is well-formed");
//! ```
//!
//! Each statement is one step. What is to be one step, too, is written as one, or between no steps
//! of others:
//!
//! ```
//! # use mover_ir::builder::ProgramBuilder;
//! # use mover_ir::expr::Ty;
//! # let mut model = ProgramBuilder::new("counter");
//! # let counter = model.global("counter", Ty::BYTE);
//! # let done = model.global("done", Ty::BOOL);
//! model.main(|t| {
//!     t.step(|s| {
//!         s.when(counter.lt(3));
//!         s.assign(counter, counter + 1);
//!     });
//!     t.atomic(|t| t.if_(counter.eq(3), |t| t.assign(done, true)));
//! });
//! # model.build().expect("it is well-formed");
//! ```
//!
//! Threads also talk by channels. A choice takes any branch whose first statement is possible:
//!
//! ```
//! # use mover_ir::builder::ProgramBuilder;
//! # use mover_ir::expr::Ty;
//! # let mut model = ProgramBuilder::new("server");
//! let requests = model.channel("requests", 2, [Ty::BYTE]);
//! let stop = model.channel("stop", 0, []);
//! let server = model.thread("server", |t| {
//!     let request = t.local("request", Ty::BYTE);
//!     t.repeat(|t| {
//!         t.choose(|c| {
//!             c.branch(|t| t.receive(requests, [request]));
//!             c.branch(|t| {
//!                 t.receive(stop, [request; 0]);
//!                 t.break_();
//!             });
//!         });
//!     });
//! });
//! model.start(server);
//! model.main(|t| {
//!     t.send(requests, [7]);
//!     t.send(stop, [0; 0]);
//! });
//! # let program = model.build().expect("it is well-formed");
//! # assert_eq!(program.max_threads, 2);
//! ```
//!
//! A program is plain data: what the builder has no statement for (pointers and objects,
//! priorities, claims) is written into the [`program::Program`] itself, and [`validate`] says
//! whether it is well-formed.

mod bound;
pub mod builder;
pub mod claim;
pub mod eval;
pub mod expr;
pub mod graph;
pub mod impossible;
pub mod literal;
mod memory;
pub mod print;
pub mod program;
mod property;
pub mod semantics;
pub mod simplify;
pub mod sync;
pub mod validate;
mod walk;
