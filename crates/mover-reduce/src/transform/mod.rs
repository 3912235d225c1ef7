//! Programs turned into others with the same behaviour that are easier to reduce.
//!
//! - [`mod@fuse`]: atomic sequences as single edges, so that a lock taken in two statements is
//!   taken in one step;
//! - [`dead_values`]: values that nobody reads any more are reset, so that they do not tell states
//!   apart;
//! - [`mod@unfold`]: loops of the first thread unrolled, with one template for each thread started.

pub mod dead_values;
pub mod fuse;
pub mod unfold;
