//! The properties that can be asked for, and their names.
//!
//! Strict serializability and opacity are Section 2.3's, the liveness
//! properties Section 2.4's. Two are added because users of databases ask for
//! them: *serializability* is strict serializability without condition (iii),
//! so that only the order within a thread is kept and not the order in time;
//! *snapshot isolation* splits a committing transaction into a point at which
//! it reads and a later point at which it writes (see [`crate::snapshot`]).

use std::fmt;

/// What must hold of every finite word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Safety {
    StrictSerializability,
    Opacity,
    Serializability,
    SnapshotIsolation,
}

/// What must hold of every infinite word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Liveness {
    ObstructionFreedom,
    LivelockFreedom,
    WaitFreedom,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    Safety(Safety),
    Liveness(Liveness),
}

impl Property {
    pub const ALL: [Property; 7] = [
        Property::Safety(Safety::StrictSerializability),
        Property::Safety(Safety::Opacity),
        Property::Safety(Safety::Serializability),
        Property::Safety(Safety::SnapshotIsolation),
        Property::Liveness(Liveness::ObstructionFreedom),
        Property::Liveness(Liveness::LivelockFreedom),
        Property::Liveness(Liveness::WaitFreedom),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Property::Safety(Safety::StrictSerializability) => "strict-serializability",
            Property::Safety(Safety::Opacity) => "opacity",
            Property::Safety(Safety::Serializability) => "serializability",
            Property::Safety(Safety::SnapshotIsolation) => "snapshot-isolation",
            Property::Liveness(Liveness::ObstructionFreedom) => "obstruction-freedom",
            Property::Liveness(Liveness::LivelockFreedom) => "livelock-freedom",
            Property::Liveness(Liveness::WaitFreedom) => "wait-freedom",
        }
    }

    /// What a word or a memory that has the property is called.
    pub fn adjective(self) -> &'static str {
        match self {
            Property::Safety(safety) => safety.adjective(),
            Property::Liveness(Liveness::ObstructionFreedom) => "obstruction free",
            Property::Liveness(Liveness::LivelockFreedom) => "livelock free",
            Property::Liveness(Liveness::WaitFreedom) => "wait free",
        }
    }

    pub fn from_name(name: &str) -> Option<Property> {
        Property::ALL
            .into_iter()
            .find(|property| property.name() == name)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Safety {
    pub const ALL: [Safety; 4] = [
        Safety::StrictSerializability,
        Safety::Opacity,
        Safety::Serializability,
        Safety::SnapshotIsolation,
    ];

    pub fn adjective(self) -> &'static str {
        match self {
            Safety::StrictSerializability => "strictly serializable",
            Safety::Opacity => "opaque",
            Safety::Serializability => "serializable",
            Safety::SnapshotIsolation => "snapshot isolated",
        }
    }
}

/// When the writes of a transaction reach the memory: the notion of conflict.
///
/// With *deferred* update they do at the commit (the paper's definition). With
/// *direct* update they do at the write statement, and an abort writes the old
/// values back; so a read or write conflicts with a write, and an abort counts
/// as one more write to every variable that the transaction wrote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Update {
    #[default]
    Deferred,
    Direct,
}

impl Update {
    pub fn name(self) -> &'static str {
        match self {
            Update::Deferred => "deferred",
            Update::Direct => "direct",
        }
    }
}

/// Whether a property has a meaning for a notion of conflict.
///
/// Snapshot isolation speaks of one moment at which all writes of a
/// transaction appear, which a memory with direct update does not have.
pub fn is_defined(property: Safety, update: Update) -> bool {
    property != Safety::SnapshotIsolation || update == Update::Deferred
}
