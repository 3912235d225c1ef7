//! Facts about a program on which the reductions are based.
//!
//! Facts are conservative: what is not understood counts as shared, and a shared access without
//! a lock is not a mover. Each fact is computed statically from the program; no states are
//! explored here.
//!
//! - [`access`]: the shared objects that each edge accesses; [`access_exprs`]: the same as
//!   expressions over the state;
//! - [`points_to`]: what is accessed through pointers; [`non_pointer_ints`]: which integers are
//!   never pointers; [`pointer_provenance`]: whether addresses stay in the object from which
//!   they were derived; [`opaque_numbers`]: whether the program observes the numbers of objects;
//!   `unpublished`: objects that no other thread knows yet;
//! - `local_ranges`: intervals of counters;
//! - [`locks`], [`rw_locks`], [`lock_rows`], [`pointer_locks`]: mutexes, reader-writer locks,
//!   arrays of locks, locks accessed by address, and where they are held; [`owners`]: cells
//!   whose value names the owner of other cells;
//! - [`object_locks`]: locks in the objects whose fields they protect;
//! - [`races`]: data races that locks rule out;
//! - [`thread_bound`]: the maximum number of threads; [`quiet_exits`]: thread exits that only
//!   joiners can observe; [`single_threaded_prefix`]: code that runs before there is a second
//!   thread; `single_threaded_suffix`: code that runs after the others have been joined;
//! - [`future_accesses`]: what a thread can still access from a location on;
//! - [`conflicts`]: the same for persistent sets, by cell and with ranks;
//! - [`feedback`]: locations that break every cycle;
//! - [`partial_eval`]: the values of an expression for given values of one or two cells.

pub mod access;
pub mod access_exprs;
pub(crate) mod checked_sums;
pub mod conflicts;
pub mod feedback;
pub mod future_accesses;
pub(crate) mod local_ranges;
pub mod lock_rows;
pub mod locks;
pub(crate) mod non_pointer_ints;
pub mod object_locks;
pub mod opaque_numbers;
pub mod owners;
pub(crate) mod partial_eval;
pub mod pointer_locks;
pub mod pointer_provenance;
pub mod points_to;
pub mod quiet_exits;
pub mod races;
pub mod rw_locks;
pub mod single_threaded_prefix;
mod single_threaded_suffix;
pub mod thread_bound;
pub(crate) mod unpublished;
