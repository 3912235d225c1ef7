//! Transformations into equivalent programs that are easier to reduce.
//!
//! - [`mod@fuse`]: atomic sequences become single edges, so that a lock acquired in two
//!   statements is acquired in one step;
//! - [`dead_values`]: dead values are reset, so that they do not distinguish states;
//! - [`mod@claim_edges`]: breaches of claimed exclusive access become errors;
//! - [`mod@race_edges`]: data races become errors, for engines that know only errors;
//! - [`mod@repeated_creation`]: every creation of a thread may happen any number of times, for proofs
//!   that do not depend on the number; this program is not equivalent, but has more runs;
//! - [`mod@unfold`]: loops of the first thread are unrolled, with one template for each thread
//!   started.

pub mod claim_edges;
pub mod dead_values;
pub mod fuse;
pub mod race_edges;
pub mod repeated_creation;
pub mod unfold;
