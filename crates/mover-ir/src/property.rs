//! What can be asked of a program.

use std::fmt;
use std::str::FromStr;

/// A question about all runs of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Property {
    /// No assertion fails and no run-time error happens.
    UnreachCall,
    /// Every state without a successor is a proper end.
    NoDeadlock,
    /// Memory is accessed only within live objects, and freed properly.
    MemorySafety,
    /// All memory from the heap has been freed when the program ends.
    MemoryCleanup,
    /// No signed computation leaves its type.
    NoOverflow,
    /// Locks are used by their rules.
    MutexMisuse,
    /// No two threads access the same memory at once without synchronisation.
    NoDataRace,
    /// No run violates a temporal claim of the source.
    Claims,
    /// Every run that treats threads fairly ends.
    Termination,
}

impl Property {
    /// Whether it is about whole runs and not about single states.
    pub fn is_temporal(self) -> bool {
        matches!(self, Property::Claims | Property::Termination)
    }

    pub const ALL: [Property; 9] = [
        Property::UnreachCall,
        Property::NoDeadlock,
        Property::MemorySafety,
        Property::MemoryCleanup,
        Property::NoOverflow,
        Property::MutexMisuse,
        Property::NoDataRace,
        Property::Claims,
        Property::Termination,
    ];

    /// What is asked of a program whose language has no rules of its own for
    /// memory, arithmetic and locks.
    pub const BASIC: [Property; 2] = [Property::UnreachCall, Property::NoDeadlock];

    pub fn name(self) -> &'static str {
        match self {
            Property::UnreachCall => "unreach-call",
            Property::NoDeadlock => "no-deadlock",
            Property::MemorySafety => "memory-safety",
            Property::MemoryCleanup => "memory-cleanup",
            Property::NoOverflow => "no-overflow",
            Property::MutexMisuse => "mutex-misuse",
            Property::NoDataRace => "no-data-race",
            Property::Claims => "claims",
            Property::Termination => "termination",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no property has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown property `{0}` (known: {known})", known = Property::ALL.map(Property::name).join(", "))]
pub struct UnknownProperty(pub String);

impl FromStr for Property {
    type Err = UnknownProperty;

    fn from_str(name: &str) -> Result<Self, UnknownProperty> {
        Property::ALL
            .into_iter()
            .find(|property| property.name() == name)
            .ok_or_else(|| UnknownProperty(name.into()))
    }
}
