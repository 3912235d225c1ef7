//! Facts about a program that reductions rest on.
//!
//! A fact is conservative: what is not understood is shared, and what is shared without a lock
//! does not move. Each fact is computed from the program's text alone; nothing is searched here.
//!
//! - [`access`]: which shared objects each edge touches; [`access_exprs`]: the same as expressions
//!   over the state;
//! - [`points_to`]: what is touched through pointers; [`non_pointer_ints`]: which integers are no
//!   pointers; [`pointer_provenance`]: whether addresses stay in the object they were taken from;
//! - [`locks`], [`rw_locks`], [`lock_rows`], [`pointer_locks`]: mutexes, reader-writer locks, locks
//!   in arrays, locks known by an address, and who holds them where; [`owners`]: cells whose value
//!   names the owner of others;
//! - [`races`]: data races that locks rule out;
//! - [`thread_bound`]: how many threads there can be; [`quiet_exits`]: thread exits that only
//!   joiners can observe; [`single_threaded_prefix`]: what runs before there is a second thread;
//! - [`future_accesses`]: what a thread can still access from a location on;
//! - [`feedback`]: locations that break every cycle;
//! - [`partial_eval`]: what an expression is for given values of a cell or two.

pub mod access;
pub mod access_exprs;
pub mod feedback;
pub mod future_accesses;
pub mod lock_rows;
pub mod locks;
pub(crate) mod non_pointer_ints;
pub mod owners;
pub(crate) mod partial_eval;
pub mod pointer_locks;
pub mod pointer_provenance;
pub mod points_to;
pub mod quiet_exits;
pub mod races;
pub mod rw_locks;
pub mod single_threaded_prefix;
pub mod thread_bound;
