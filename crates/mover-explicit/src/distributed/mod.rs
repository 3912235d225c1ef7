//! Search by several processes, on one machine or on several.
//!
//! Every state has an *owner*, the process that stores and expands it, by a hash of its contents that does not
//! depend on how a process numbers things. A successor that belongs to another process is sent to it, many in one
//! message. The search goes by levels, as on several cores: at the end of a level each process tells all others
//! that it has sent everything (messages of a connection arrive in their order), then what it has found
//! and how much is left. From the same tallies all come to the same decision, so none has to lead. See
//! `parallel/exchange` for this protocol.
//!
//! - `wire` turns numbers into bytes and checks what it reads.
//! - `mesh` connects the processes with each other and tells if one is lost.
//!
//! A process that is lost takes its states with it, and whoever misses it cannot know what they would have led to:
//! the search ends without a verdict.
//!
//! The owner by hash is from Stern and Dill (1997).

pub(crate) mod mesh;
pub(crate) mod wire;

pub use mesh::{Joining, PeerError, Peers, TOKEN_BYTES, listen};
