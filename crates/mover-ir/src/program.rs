//! Programs: thread templates (control-flow automata) over shared memory.
//!
//! A [`Program`] is all that an engine knows. It has global variables and
//! channels, [`Template`]s of threads, and the [`Instance`]s that exist at the
//! start; further threads are spawned by actions. A template is an automaton:
//! [`Location`]s with outgoing [`Edge`]s, each edge one atomic action.
//!
//! Three notions keep the automata small and are worth knowing:
//!
//! - **Priority.** An edge is enabled only if no edge of higher priority from
//!   the same location is. This one rule gives `else` (a lower priority),
//!   Promela's `unless` (a higher one) and the determinism of `d_step`
//!   (descending priorities).
//! - **Atomic locations.** A thread that has moved to an atomic location is
//!   *exclusive*: only it may move, as long as it can. If it cannot, everybody
//!   may again.
//! - **Error locations.** An error is a sink that names the property it
//!   violates. An assertion is two edges: one for the condition, one for its
//!   negation.

use std::fmt;
use std::str::FromStr;

use crate::expr::{ChannelRef, Expr, Place, ReceiveArg, Ty};
use crate::source::{SourceMap, Span};

macro_rules! index_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type!(
    /// A variable: of the program or of a template, as the context says.
    VariableId
);
index_type!(TemplateId);
index_type!(
    /// A location of a template.
    LocationId
);

/// What can be asked of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Property {
    /// No assertion fails and no run-time error happens.
    UnreachCall,
    /// Every state without a successor is a proper end.
    NoDeadlock,
}

impl Property {
    pub const ALL: [Property; 2] = [Property::UnreachCall, Property::NoDeadlock];

    pub fn name(self) -> &'static str {
        match self {
            Property::UnreachCall => "unreach-call",
            Property::NoDeadlock => "no-deadlock",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Property {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Property::ALL
            .into_iter()
            .find(|property| property.name() == name)
            .ok_or_else(|| {
                let known: Vec<_> = Property::ALL.iter().map(|p| p.name()).collect();
                format!("unknown property `{name}` (known: {})", known.join(", "))
            })
    }
}

/// A row of cells of one type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    /// Number of cells; 1 for a scalar.
    pub len: u32,
    /// Whether it was declared as an array, which a row of one cell can be.
    pub is_array: bool,
    pub init: Init,
    /// Names for values, to print them by (Promela's `mtype`).
    pub symbols: Option<SymbolSetId>,
    pub span: Option<Span>,
}

index_type!(
    /// A set of names for values.
    SymbolSetId
);

/// What a variable holds at the start of its life.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Init {
    /// Every cell holds this value.
    All(u64),
    /// One value for each cell.
    Cells(Vec<u64>),
    /// Each cell holds its own channel.
    Channels(Vec<ChannelRef>),
}

/// A buffer of messages; capacity 0 makes it a rendezvous.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelDecl {
    pub name: String,
    pub capacity: u32,
    pub fields: Vec<Field>,
    pub span: Option<Span>,
}

/// One part of a channel's messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub ty: Ty,
    pub symbols: Option<SymbolSetId>,
}

/// An automaton that threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    pub name: String,
    /// The first `params` local variables take the arguments of a spawn.
    pub params: u32,
    pub locals: Vec<Variable>,
    /// Channels that come and go with each thread.
    pub channels: Vec<ChannelDecl>,
    pub locations: Vec<Location>,
    pub entry: LocationId,
    pub span: Option<Span>,
}

impl Template {
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.index()]
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location {
    /// The labels that the source put here.
    pub labels: Vec<String>,
    /// A thread that has just moved here keeps the others from moving.
    pub atomic: bool,
    /// A thread may stay here for ever without a deadlock.
    pub valid_end: bool,
    pub error: Option<ErrorMark>,
    pub edges: Vec<Edge>,
    pub span: Option<Span>,
}

/// Makes a location the sink of an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorMark {
    pub property: Property,
    /// What went wrong, as words for the user: `assertion violated: x == 1`.
    pub message: String,
    /// Where a search that was told to go on past errors continues.
    pub resume: Option<LocationId>,
}

/// One atomic action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    pub priority: i32,
    /// Width 1. Besides the guard, the channel operation and the spawn among
    /// the effects must be possible.
    pub guard: Expr,
    /// Done in order; each sees what the ones before it did.
    pub effects: Vec<Effect>,
    pub target: LocationId,
    pub span: Option<Span>,
    /// The statement as the user would recognise it.
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    Assign {
        place: Place,
        value: Expr,
    },
    /// Possible if the channel exists and is not full; with capacity 0 it takes
    /// place together with a matching [`Effect::Receive`] of another thread.
    Send {
        channel: Expr,
        /// Each is resized to its field with its sign; missing ones are 0.
        values: Vec<Expr>,
        /// Insert in order instead of at the end.
        sorted: bool,
    },
    /// Possible if a message matches.
    Receive {
        channel: Expr,
        args: Vec<ReceiveArg>,
        /// Take the first message that matches, not only the oldest.
        random: bool,
        /// Leave the message in the channel.
        peek: bool,
    },
    /// Possible if fewer than the program's maximum of threads are alive.
    Spawn {
        template: TemplateId,
        args: Vec<Expr>,
        priority: u8,
        /// Where the number of the new thread is stored.
        result: Option<Place>,
    },
    /// The thread is gone afterwards, with its variables and channels.
    Exit,
    SetPriority {
        thread: Expr,
        priority: Expr,
    },
    /// Output for traces; `%`-directives of C for the arguments, which count as signed.
    Print {
        format: String,
        args: Vec<PrintArg>,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintArg {
    pub value: Expr,
    pub symbols: Option<SymbolSetId>,
}

impl Effect {
    /// Whether it decides, besides the guard, if the edge is enabled.
    pub fn is_channel_operation(&self) -> bool {
        matches!(self, Effect::Send { .. } | Effect::Receive { .. })
    }

    /// Calls `visit` on every expression that the effect evaluates.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        match self {
            Effect::Assign { place, value } => {
                place.index.walk(visit);
                value.walk(visit);
            }
            Effect::Send {
                channel, values, ..
            } => {
                channel.walk(visit);
                values.iter().for_each(|value| value.walk(visit));
            }
            Effect::Receive { channel, args, .. } => {
                channel.walk(visit);
                args.iter().for_each(|arg| arg.walk(visit));
            }
            Effect::Spawn { args, result, .. } => {
                args.iter().for_each(|arg| arg.walk(visit));
                if let Some(place) = result {
                    place.index.walk(visit);
                }
            }
            Effect::Exit => {}
            Effect::SetPriority { thread, priority } => {
                thread.walk(visit);
                priority.walk(visit);
            }
            Effect::Print { args, .. } => args.iter().for_each(|arg| arg.value.walk(visit)),
        }
    }
}

/// A thread that exists at the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    pub template: TemplateId,
    /// Values of the parameters.
    pub args: Vec<u64>,
    pub priority: u8,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    pub sources: SourceMap,
    pub globals: Vec<Variable>,
    pub channels: Vec<ChannelDecl>,
    pub templates: Vec<Template>,
    pub initial: Vec<Instance>,
    /// Names for values, by [`SymbolSetId`].
    pub symbols: Vec<SymbolSet>,
    /// Most threads that can be alive at a time.
    pub max_threads: u32,
    /// Whether only threads of the highest priority among those that can move do.
    pub priority_scheduling: bool,
    /// What the verdict must say besides: things that were parsed but are not
    /// checked, assumptions made.
    pub caveats: Vec<String>,
}

impl Program {
    pub fn template(&self, id: TemplateId) -> &Template {
        &self.templates[id.index()]
    }

    /// How many channels each thread brings at most.
    pub fn channels_per_thread(&self) -> u32 {
        self.templates
            .iter()
            .map(|template| template.channels.len() as u32)
            .max()
            .unwrap_or(0)
    }

    /// Whether some expression of the program satisfies the predicate.
    pub fn any_expr(&self, mut predicate: impl FnMut(&Expr) -> bool) -> bool {
        let mut found = false;
        for template in &self.templates {
            for edge in template.locations.iter().flat_map(|l| &l.edges) {
                let mut visit = |expr: &Expr| found |= predicate(expr);
                edge.guard.walk(&mut visit);
                edge.effects
                    .iter()
                    .for_each(|effect| effect.walk(&mut visit));
            }
        }
        found
    }

    pub fn uses_timeout(&self) -> bool {
        self.any_expr(|expr| matches!(expr, Expr::Timeout))
    }

    /// Whether some channel has no buffer.
    pub fn has_rendezvous(&self) -> bool {
        let own = self
            .templates
            .iter()
            .flat_map(|template| &template.channels);
        self.channels
            .iter()
            .chain(own)
            .any(|channel| channel.capacity == 0)
    }

    /// Whether the priorities of threads can make a difference.
    pub fn uses_priorities(&self) -> bool {
        let sets = |effect: &Effect| matches!(effect, Effect::SetPriority { .. });
        self.priority_scheduling
            || self.any_expr(|expr| matches!(expr, Expr::ThreadPriority(_)))
            || self
                .templates
                .iter()
                .flat_map(|template| &template.locations)
                .flat_map(|location| &location.edges)
                .any(|edge| edge.effects.iter().any(sets))
    }

    pub fn symbol(&self, set: Option<SymbolSetId>, value: i64) -> Option<&str> {
        self.symbols[set?.index()]
            .names
            .iter()
            .find(|(number, _)| *number == value)
            .map(|(_, name)| name.as_str())
    }
}

/// Names for values, such as an enumeration's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SymbolSet {
    pub names: Vec<(i64, String)>,
}

impl Program {
    /// The program in which a failed assertion has no effect: edges into an
    /// error that says where to resume lead there instead. Other errors still
    /// end the run.
    pub fn resume_after_errors(&mut self) {
        for template in &mut self.templates {
            let resume: Vec<Option<LocationId>> = template
                .locations
                .iter()
                .map(|location| location.error.as_ref().and_then(|error| error.resume))
                .collect();
            for edge in template.locations.iter_mut().flat_map(|l| &mut l.edges) {
                if let Some(location) = resume[edge.target.index()] {
                    edge.target = location;
                }
            }
        }
    }
}
