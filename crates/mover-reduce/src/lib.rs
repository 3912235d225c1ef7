//! What commutes with what.
//!
//! Lipton's theory of reduction, after papers 000 (*Sound Transaction-based
//! Reduction without Cycle Detection*) and 002 (*Transactions for Software Model
//! Checking*): if most of what a thread does commutes with what the others do,
//! runs in which threads take turns rarely show every error. This crate finds
//! out what commutes; the engines decide what to do with it.
//!
//! - [`access`]: which shared objects each edge touches;
//! - [`points_to`]: what it touches through pointers;
//! - `small`: which integers are no pointers for certain;
//! - [`staying`]: whether addresses stay in their objects;
//! - [`locks`]: which of them are locks, and who has them where;
//! - [`races`]: data races that locks rule out;
//! - [`rw_locks`]: locks that many have to read and one to write;
//! - `eyes`: what an expression is for given values of a cell or two;
//! - [`owners`]: cells whose value tells who has them, found or given by the user;
//! - [`crowd`]: how many threads there can be;
//! - [`presence`]: threads that end with nobody the wiser;
//! - [`alone`]: where a thread has no others beside it;
//! - [`mod@movers`]: which edges move left or right, and why;
//! - [`feedback`]: locations that break every cycle;
//! - [`touch`], [`lock_rows`], [`ahead`], [`phase`]: what it takes to classify steps
//!   while a search runs;
//! - [`transactions`]: where transactions begin, commit and end;
//! - [`along`]: the transactions of a run;
//! - [`mod@explain`]: all of it beside the source;
//! - [`mod@fuse`]: atomic sequences as single edges, so that a lock taken in two
//!   statements is taken in one step;
//! - [`dead`]: values that nobody reads any more are forgotten, so that they do not tell states apart;
//! - [`conditions`]: when each edge moves, as expressions that every engine can use;
//! - [`dynamic`]: edges that move in some states only (paper 001);
//! - [`pointer_locks`]: locks that are known by an address;
//! - [`control`]: where control flow can go and where its loops are cut;
//! - [`mod@unfold`]: programs with the loops of their first thread unrolled.

pub mod access;
pub mod ahead;
pub mod alone;
pub mod along;
pub mod conditions;
pub mod control;
pub mod crowd;
pub mod dead;
pub mod dynamic;
pub mod explain;
mod eyes;
pub mod feedback;
pub mod fuse;
pub mod lock_rows;
pub mod locks;
pub mod movers;
pub mod owners;
pub mod phase;
pub mod pointer_locks;
pub mod points_to;
pub mod presence;
pub mod races;
pub mod rw_locks;
mod small;
pub mod staying;
pub mod touch;
pub mod transactions;
pub mod unfold;

pub use conditions::{Condition, Conditions, Reduction};
pub use dynamic::Heuristics;
pub use movers::{Mover, Movers, Protection, forgetful_movers, movers};
pub use phase::PhaseFacts;
