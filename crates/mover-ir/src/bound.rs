//! Bounds: where a program is not followed further.
//!
//! A *bound* is a location that ends a run although the program would go on: recursion that is too deep, an
//! allocation that is too large, a construct that a front end does not translate. Engines report the bounds
//! that they meet in the same search as the errors, so that nobody takes `safe` for more than it is.

use crate::program::{LocationId, TemplateId};

/// Makes a location the sink of the runs that the program does not follow further. The run ends
/// here, without error and without deadlock; what it would have done is not known. A proof is
/// unconditional only if no run comes here.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BoundMark {
    pub kind: BoundKind,
    /// Which bound was exceeded, as words for the user: `fact recurses more than 16 deep`.
    pub message: String,
}

/// What a bound limits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BoundKind {
    /// The recursion depth of a function.
    Recursion,
    /// The number of threads created in loops that are alive at a time.
    Threads,
    /// The size of one allocation.
    Allocation,
    /// The number of keys for thread-specific data.
    Keys,
    /// A wait for a condition variable without holding the mutex, which is undefined.
    WaitWithoutMutex,
    /// The exit of a thread that holds a lock whose owner other threads ask for.
    ExitWithLock,
    /// The use of a function or variable that no file defines.
    Undefined,
    /// A construct of the language that the front end does not translate.
    Unsupported,
    /// A call that the front end does not translate, such as a jump between functions.
    UnsupportedCall,
    /// A message to or from a channel that may take another number of fields.
    MessageFields,
    /// A claim of exclusive access that is not checked for so many threads.
    Claim,
}

impl BoundKind {
    pub const ALL: [BoundKind; 11] = [
        BoundKind::Recursion,
        BoundKind::Threads,
        BoundKind::Allocation,
        BoundKind::Keys,
        BoundKind::WaitWithoutMutex,
        BoundKind::ExitWithLock,
        BoundKind::Undefined,
        BoundKind::Unsupported,
        BoundKind::UnsupportedCall,
        BoundKind::MessageFields,
        BoundKind::Claim,
    ];

    pub fn name(self) -> &'static str {
        match self {
            BoundKind::Recursion => "recursion",
            BoundKind::Threads => "threads",
            BoundKind::Allocation => "allocation",
            BoundKind::Keys => "keys",
            BoundKind::WaitWithoutMutex => "wait-without-mutex",
            BoundKind::ExitWithLock => "exit-with-lock",
            BoundKind::Undefined => "undefined",
            BoundKind::Unsupported => "unsupported",
            BoundKind::UnsupportedCall => "unsupported-call",
            BoundKind::MessageFields => "message-fields",
            BoundKind::Claim => "claim",
        }
    }

    /// What the user can try to get an answer without this bound.
    pub fn advice(self) -> &'static str {
        match self {
            BoundKind::Recursion => "a larger --recursion",
            BoundKind::Threads => "a larger --threads",
            BoundKind::Allocation => "smaller objects, for instance by a macro for their size",
            BoundKind::Keys => "a program that creates fewer keys",
            BoundKind::WaitWithoutMutex => {
                "--property mutex-misuse, or a program that locks the mutex before it waits"
            }
            BoundKind::ExitWithLock => "a program whose threads release all locks before they exit",
            BoundKind::Undefined => {
                "the file that defines it as well, or --havoc-externals, which lets it return any value"
            }
            BoundKind::Unsupported => {
                "the program without this code, for instance by an #ifdef around it"
            }
            BoundKind::UnsupportedCall => "the program without this call",
            BoundKind::MessageFields => {
                "a model in which the channels of processes take equal numbers of fields"
            }
            BoundKind::Claim => {
                "a program that starts fewer threads, and none in loops, or one without the claim"
            }
        }
    }

    /// The code of the error page, where the bound stands for input that is not supported.
    pub fn code(self) -> Option<&'static str> {
        match self {
            BoundKind::Undefined => Some("C011"),
            BoundKind::Unsupported => Some("C010"),
            BoundKind::UnsupportedCall => Some("C012"),
            _ => None,
        }
    }
}

/// A bound that some run meets: where the mark is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BoundMet {
    pub template: TemplateId,
    pub location: LocationId,
}
