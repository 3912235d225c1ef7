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
//!
//! Memory is of two kinds. What is reached only by name is a [`Variable`]: a row
//! of cells of one type, which is what analyses understand best. What has an
//! address is an *object*: a row of bytes, little-endian. Objects are the
//! [addressable](Variable::addressable) global variables, which can still be
//! reached by name, and the dynamic objects that [`Effect::Allocate`] makes. The
//! cells of an object are only its representation; a load or a store means bytes.

use std::sync::Arc;

use mover_source::{SourceMap, Span};

pub use crate::bound::{BoundKind, BoundMark, BoundMet};
use crate::claim::Claim;
use crate::expr::{BinaryOp, Expr, Place, ReceiveArg, Ty};
pub use crate::memory::{
    AllocationSite, CellName, CellNames, Init, MAX_OBJECT_SIZE, PointerLayout, SiteId, SiteKind,
    SymbolSetId, Variable,
};
pub use crate::property::{Property, UnknownProperty};
use crate::sync::SyncOp;

macro_rules! index_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
pub(crate) use index_type;

index_type!(
    /// A variable: of the program or of a template, as the context says.
    VariableId
);
index_type!(TemplateId);
index_type!(
    /// A location of a template.
    LocationId
);

/// A buffer of messages; capacity 0 makes it a rendezvous.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChannelDecl {
    pub name: String,
    pub capacity: u32,
    pub fields: Vec<Field>,
    pub span: Option<Span>,
}

/// One part of a channel's messages.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Field {
    pub ty: Ty,
    pub symbols: Option<SymbolSetId>,
}

/// An automaton that threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

impl Default for Template {
    /// Without a name and locations.
    fn default() -> Self {
        Template {
            name: String::new(),
            params: 0,
            locals: Vec::new(),
            channels: Vec::new(),
            locations: Vec::new(),
            entry: LocationId(0),
            span: None,
        }
    }
}

impl Template {
    /// Without parameters and channels, beginning in its first location.
    pub fn new(
        name: impl Into<String>,
        locals: Vec<Variable>,
        locations: Vec<Location>,
    ) -> Template {
        Template {
            name: name.into(),
            locals,
            locations,
            ..Template::default()
        }
    }

    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.index()]
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Location {
    /// The labels that the source put here.
    pub labels: Vec<String>,
    /// A thread that has just moved here keeps the others from moving.
    pub atomic: bool,
    /// A thread may stay here for ever without a deadlock.
    pub valid_end: bool,
    pub error: Option<ErrorMark>,
    #[cfg_attr(feature = "serde", serde(default))]
    pub bound: Option<BoundMark>,
    pub edges: Vec<Edge>,
    /// The accesses to shared memory that a thread may be about to make here, by the rules of a
    /// language in which two accesses can race. Only where data races are checked.
    #[cfg_attr(feature = "serde", serde(default))]
    pub accesses: Vec<MemoryAccess>,
    pub span: Option<Span>,
}

/// An access to shared memory that counts for data races. It says nothing of what happens: that
/// is up to the edges of its location.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MemoryAccess {
    /// Width 1: whether the next thing that the thread does is this access.
    pub guard: Expr,
    pub memory: AccessedMemory,
    pub writes: bool,
    /// Whether it does not race with another atomic access.
    pub atomic: bool,
    /// Whether it counts as next although a step without synchronisation comes before it, which may
    /// not be possible yet. Two such accesses do not race: each step may need the other thread to go
    /// another way.
    #[cfg_attr(feature = "serde", serde(default))]
    pub ahead: bool,
    pub span: Option<Span>,
}

/// Where an access goes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AccessedMemory {
    /// One cell of a global variable.
    Cell { variable: VariableId, index: Expr },
    /// Bytes from an address on.
    Bytes { address: Expr, count: u64 },
}

impl MemoryAccess {
    /// Its expressions.
    pub fn exprs(&self) -> [&Expr; 2] {
        let place = match &self.memory {
            AccessedMemory::Cell { index, .. } => index,
            AccessedMemory::Bytes { address, .. } => address,
        };
        [&self.guard, place]
    }
}

impl Location {
    /// Whether the whole run ends when a thread comes here: an error or a bound.
    pub fn ends_run(&self) -> bool {
        self.error.is_some() || self.bound.is_some()
    }

    pub fn with_edges(edges: Vec<Edge>) -> Location {
        Location {
            edges,
            ..Location::default()
        }
    }

    /// Where an assertion has failed.
    pub fn failure(message: impl Into<String>, resume: Option<LocationId>) -> Location {
        Location {
            error: Some(ErrorMark {
                property: Property::UnreachCall,
                message: message.into(),
                resume,
            }),
            ..Location::default()
        }
    }
}

/// Makes a location the sink of an error.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorMark {
    pub property: Property,
    /// What went wrong, as words for the user: `assertion violated: x == 1`.
    pub message: String,
    /// Where a search that continues after errors resumes.
    pub resume: Option<LocationId>,
}

/// One atomic action.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// The operations on synchronisation objects that the front end declares it to be.
    #[cfg_attr(feature = "serde", serde(default))]
    pub sync: Vec<SyncOp>,
}

impl Default for Edge {
    /// A step to the first location that is always possible and does nothing.
    fn default() -> Self {
        Edge {
            priority: 0,
            guard: Expr::TRUE,
            effects: Vec::new(),
            target: LocationId(0),
            span: None,
            text: String::new(),
            sync: Vec::new(),
        }
    }
}

impl Edge {
    pub fn new(guard: Expr, effects: Vec<Effect>, target: u32, text: impl Into<String>) -> Edge {
        Edge {
            guard,
            effects,
            target: LocationId(target),
            text: text.into(),
            ..Edge::default()
        }
    }
}

/// How many numbers of dynamic objects come back to an allocation that reuses addresses.
pub const REUSED_NUMBERS: u64 = 16;

#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Effect {
    Assign {
        place: Place,
        value: Expr,
    },
    /// Writes the value's bytes at the address, little-endian; 8, 16, 32 or 64
    /// bits. No effect if one of the bytes is outside of a live object.
    Store {
        address: Expr,
        value: Expr,
    },
    /// The cell takes any value below `values`, or any of its type if that is 0.
    /// At most one in an edge, and not beside a channel operation.
    Havoc {
        place: Place,
        values: u64,
    },
    /// A new object of `size` bytes, all 0; its address goes to `result`. It gets
    /// the lowest number that no live object has and that no cell of the state
    /// holds as part of an address, so that a dangling pointer never comes to
    /// point into a new object. With `reuse` = k > 0 it is the other way round: the
    /// object gets the k-th lowest of the first [`REUSED_NUMBERS`] dynamic numbers
    /// that some cell holds and no live object has; if there are fewer, it is as with 0. If the size is more than
    /// [`PointerLayout::max_object_size`] or there is no number, there is no
    /// object and `result` is 0.
    Allocate {
        site: SiteId,
        #[cfg_attr(feature = "serde", serde(default))]
        reuse: u32,
        /// Width of a pointer.
        size: Expr,
        /// Width of a pointer.
        result: Place,
    },
    /// The dynamic object that the address points into is gone, whatever the
    /// offset. No effect if there is none.
    Free {
        address: Expr,
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PrintArg {
    pub value: Expr,
    pub symbols: Option<SymbolSetId>,
}

impl Effect {
    /// Whether it decides, besides the guard, if the edge is enabled.
    pub fn is_channel_operation(&self) -> bool {
        matches!(self, Effect::Send { .. } | Effect::Receive { .. })
    }

    /// The cells that the effect writes by name.
    pub fn written_places(&self) -> Vec<&Place> {
        match self {
            Effect::Assign { place, .. }
            | Effect::Havoc { place, .. }
            | Effect::Allocate { result: place, .. }
            | Effect::Spawn {
                result: Some(place),
                ..
            } => vec![place],
            Effect::Receive { args, .. } => args
                .iter()
                .filter_map(|arg| match arg {
                    ReceiveArg::Store(place) => Some(place),
                    _ => None,
                })
                .collect(),
            Effect::Store { .. }
            | Effect::Free { .. }
            | Effect::Send { .. }
            | Effect::Spawn { result: None, .. }
            | Effect::Exit
            | Effect::SetPriority { .. }
            | Effect::Print { .. } => Vec::new(),
        }
    }
}

/// A thread that exists at the start.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instance {
    pub template: TemplateId,
    /// Values of the parameters.
    pub args: Vec<u64>,
    pub priority: u8,
}

impl Instance {
    pub fn new(template: u32, args: Vec<u64>) -> Instance {
        Instance {
            template: TemplateId(template),
            args,
            priority: 1,
        }
    }
}

/// What a program does: all that the semantics and the engines read.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Program {
    /// What is said of it to people; shared by all programs made from this one.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub info: Arc<ProgramInfo>,
    pub globals: Vec<Variable>,
    pub channels: Vec<ChannelDecl>,
    pub templates: Vec<Template>,
    pub initial: Vec<Instance>,
    pub pointers: PointerLayout,
    /// Where objects are made, by [`SiteId`].
    pub sites: Vec<AllocationSite>,
    /// A promise of the front end: whatever is used as an address (in a load, a
    /// store, a free, a question about its object) and points into a live object
    /// was computed from the address of that object, by copying, adding numbers,
    /// subtracting, choosing, and by storing and loading it as a whole where its
    /// bytes are aligned. Analyses may rely on it; engines need not.
    pub pointers_stay: bool,
    /// A promise of the front end: a row with a cell for each thread that is not 0
    /// from before its start until after it has ended and been waited for (or has
    /// ended with nobody to wait for it). While it is there, others change its cell
    /// only in edges that compare it.
    pub presence: Option<VariableId>,
    /// Maximum number of threads that can be alive at a time.
    pub max_threads: u32,
    /// Whether only threads of the highest priority among those that can move do.
    pub priority_scheduling: bool,
}

impl Default for Program {
    /// A program without threads.
    fn default() -> Self {
        Program {
            info: Arc::default(),
            globals: Vec::new(),
            channels: Vec::new(),
            templates: Vec::new(),
            initial: Vec::new(),
            pointers: PointerLayout::LP64,
            sites: Vec::new(),
            pointers_stay: false,
            presence: None,
            max_threads: 0,
            priority_scheduling: false,
        }
    }
}

/// What is said of a program besides what it does: names, claims and caveats. No engine reads it;
/// reductions read the claims, and check them before they use them.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProgramInfo {
    pub name: String,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub sources: SourceMap,
    /// Names for values, by [`SymbolSetId`].
    pub symbols: Vec<SymbolSet>,
    /// What the user says of who has exclusive access to what.
    pub exclusive: Vec<Exclusive>,
    /// Temporal claims that the source makes and that are asked about. A proof must cover all of
    /// them.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub claims: Vec<Claim>,
    /// The statements of the source, for what some run reaches; none if the front end does not count
    /// them.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub statements: Vec<SourceStatement>,
    /// What the verdict must say besides: things that were parsed but are not
    /// checked, assumptions made.
    pub caveats: Vec<String>,
}

/// A statement of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceStatement {
    pub template: TemplateId,
    pub text: String,
    pub span: Span,
    /// Where a thread is that may execute it next; empty if no way leads to it.
    pub at: Vec<LocationId>,
}

impl ProgramInfo {
    /// A name and nothing else.
    pub fn named(name: impl Into<String>) -> Arc<ProgramInfo> {
        Arc::new(ProgramInfo {
            name: name.into(),
            ..ProgramInfo::default()
        })
    }
}

/// A claim of the user: a thread for which the predicate holds is the only one
/// that accesses the variable.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exclusive {
    pub variable: VariableId,
    /// Width 1, over global variables and the number of the thread.
    pub predicate: Expr,
    pub span: Span,
}

impl Program {
    /// For a front end that has more to say of it; programs made from this one before keep what
    /// was said of them.
    pub fn info_mut(&mut self) -> &mut ProgramInfo {
        Arc::make_mut(&mut self.info)
    }

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

    /// All effects of all edges.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.templates
            .iter()
            .flat_map(|template| &template.locations)
            .flat_map(|location| &location.edges)
            .flat_map(|edge| &edge.effects)
    }

    /// How many addressable globals there are; dynamic objects have higher numbers.
    pub fn addressable_globals(&self) -> u64 {
        let globals = self.globals.iter();
        globals.filter(|variable| variable.addressable).count() as u64
    }

    /// The object number of an addressable global.
    pub fn object_of(&self, variable: VariableId) -> u64 {
        let before = self.globals[..variable.index()].iter();
        1 + before.filter(|variable| variable.addressable).count() as u64
    }

    /// The address of an addressable global.
    pub fn address_of(&self, variable: VariableId) -> Expr {
        Expr::Address {
            variable,
            width: self.pointers.width,
        }
    }

    pub fn site(&self, id: SiteId) -> &AllocationSite {
        &self.sites[id.index()]
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
        let sets = |effect| matches!(effect, &Effect::SetPriority { .. });
        self.priority_scheduling
            || self.any_expr(|expr| matches!(expr, Expr::ThreadPriority(_)))
            || self.effects().any(sets)
    }

    pub fn symbol(&self, set: Option<SymbolSetId>, value: i64) -> Option<&str> {
        self.info.symbols[set?.index()]
            .names
            .iter()
            .find(|(number, _)| *number == value)
            .map(|(_, name)| name.as_str())
    }
}

/// Names for values, such as an enumeration's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SymbolSet {
    pub names: Vec<(i64, String)>,
}

impl Program {
    /// The mark of a bound that some run of this program meets.
    pub fn bound(&self, met: BoundMet) -> Option<&BoundMark> {
        let location = self.template(met.template).location(met.location);
        location.bound.as_ref()
    }

    /// Whether some access can race, as far as is known.
    pub fn has_accesses(&self) -> bool {
        let locations = self.templates.iter().flat_map(|t| &t.locations);
        locations.into_iter().any(|at| !at.accesses.is_empty())
    }

    /// The bytes of an access: the variable, if it is one without an address, the first byte (of
    /// a variable without an address: the first cell), and how many there are.
    pub fn bytes_of(&self, memory: &AccessedMemory) -> (Option<VariableId>, Expr, u64) {
        match memory {
            AccessedMemory::Bytes { address, count } => (None, address.clone(), *count),
            AccessedMemory::Cell { variable, index } => {
                let declared = &self.globals[variable.index()];
                if !declared.addressable {
                    return (Some(*variable), index.clone(), 1);
                }
                let width = self.pointers.width;
                let count = u64::from(declared.ty.width / 8);
                let index = match index.width() == width {
                    true => index.clone(),
                    false => Expr::Resize {
                        arg: Box::new(index.clone()),
                        width,
                        signed: false,
                    },
                };
                let offset =
                    Expr::binary(BinaryOp::Mul, index, Expr::constant(count as i64, width));
                let first = Expr::binary(BinaryOp::Add, self.address_of(*variable), offset);
                (None, first, count)
            }
        }
    }

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
