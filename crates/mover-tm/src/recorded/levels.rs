//! The isolation levels and what each forbids.
//!
//! Adya (1999) defines a level by the phenomena that it forbids in the direct serialization
//! graph. Edges: *ww* from the writer of a version to the writer of the next, *wr* from the writer of
//! a version to its readers, *rw* from a reader of a version to the writer of the next.
//!
//! | level | forbidden |
//! |---|---|
//! | read uncommitted (PL-1) | G0: cycles of ww |
//! | read committed (PL-2) | G1a aborted reads, G1b intermediate reads, G1c cycles of ww and wr |
//! | snapshot isolation | G1, and cycles in which no two rw are adjacent: G-single (one rw), G-nonadjacent |
//! | repeatable read (PL-2.99), serializable (PL-3) | G1, G2: all cycles |
//! | strict serializable | also cycles with the order in time |
//! | opacity | the same, where aborted and unfinished transactions count as readers |
//!
//! Snapshot isolation is that of Cerone and Gotsman (2018), whose snapshots may be old; Adya's
//! variant with start times is strong snapshot isolation. PL-2.99 differs from PL-3 for reads by
//! predicate only. Recorded histories have reads of items only, so the two coincide here.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    ReadUncommitted,
    ReadCommitted,
    SnapshotIsolation,
    StrongSessionSnapshotIsolation,
    RepeatableRead,
    Serializable,
    StrongSessionSerializable,
    StrictSerializable,
    Opacity,
}

impl Level {
    /// The levels from the weakest to the strongest; each implies those before it.
    pub const LADDER: [Level; 7] = [
        Level::ReadUncommitted,
        Level::ReadCommitted,
        Level::SnapshotIsolation,
        Level::RepeatableRead,
        Level::Serializable,
        Level::StrictSerializable,
        Level::Opacity,
    ];

    pub const ALL: [Level; 9] = [
        Level::ReadUncommitted,
        Level::ReadCommitted,
        Level::SnapshotIsolation,
        Level::StrongSessionSnapshotIsolation,
        Level::RepeatableRead,
        Level::Serializable,
        Level::StrongSessionSerializable,
        Level::StrictSerializable,
        Level::Opacity,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "read-uncommitted",
            Level::ReadCommitted => "read-committed",
            Level::SnapshotIsolation => "snapshot-isolation",
            Level::StrongSessionSnapshotIsolation => "strong-session-snapshot-isolation",
            Level::RepeatableRead => "repeatable-read",
            Level::Serializable => "serializable",
            Level::StrongSessionSerializable => "strong-session-serializable",
            Level::StrictSerializable => "strict-serializable",
            Level::Opacity => "opacity",
        }
    }

    pub fn from_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Whether every history at this level is at the other level as well.
    pub fn implies(self, other: Level) -> bool {
        use Level::{
            Opacity, ReadCommitted, ReadUncommitted, RepeatableRead, Serializable,
            SnapshotIsolation, StrictSerializable, StrongSessionSerializable,
            StrongSessionSnapshotIsolation,
        };
        let direct: &[Level] = match self {
            ReadUncommitted => &[],
            ReadCommitted => &[ReadUncommitted],
            SnapshotIsolation => &[ReadCommitted],
            StrongSessionSnapshotIsolation => &[SnapshotIsolation],
            RepeatableRead => &[SnapshotIsolation],
            Serializable => &[RepeatableRead],
            StrongSessionSerializable => &[Serializable, StrongSessionSnapshotIsolation],
            StrictSerializable => &[StrongSessionSerializable],
            Opacity => &[StrictSerializable],
        };
        self == other || direct.iter().any(|level| level.implies(other))
    }

    /// Whether dependencies by reading count, beside those between writers.
    pub fn has_reads(self) -> bool {
        self != Level::ReadUncommitted
    }

    pub fn has_anti_dependencies(self) -> bool {
        !matches!(self, Level::ReadUncommitted | Level::ReadCommitted)
    }

    /// Whether a transaction has a moment at which it reads and a later one at which it writes.
    pub fn is_split(self) -> bool {
        matches!(
            self,
            Level::SnapshotIsolation | Level::StrongSessionSnapshotIsolation
        )
    }

    /// Whether the order of the transactions of one process counts.
    pub fn has_sessions(self) -> bool {
        self.has_time()
            || matches!(
                self,
                Level::StrongSessionSnapshotIsolation | Level::StrongSessionSerializable
            )
    }

    pub fn has_time(self) -> bool {
        matches!(self, Level::StrictSerializable | Level::Opacity)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
