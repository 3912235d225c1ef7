//! Which programs the modular engine takes, and which variables are owners.
//!
//! In a proof for any number of threads a step must depend on shared memory and on its own thread
//! only, so that it is the same step beside any other threads. Handles are already gone
//! ([`super::handles`]). Numbers of threads remain where they are *owners*: globals that hold the
//! number of a thread, such as locks. They may only be compared with constants and with the number
//! of the executing thread, so it is enough to know whether the owner is a given thread, another
//! one, or nobody. What does not keep to this is refused, with the reason.
//!
//! - The numbers of two threads differ, and none is a constant that the owner is compared with or
//!   set to. This is checked for as many numbers as there can be ([`NUMBERS`]), not only for those
//!   of a formula: with `owner == 7` the eighth thread would be special.
//! - Allocations are refused: the number of a new object is one that no cell mentions, so it
//!   depends on the local variables of all threads.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, Place, VariableRef};
use mover_ir::program::{Edge, Effect, Program};
use mover_ir::simplify::fold_parts;

/// A variable of the program or of a template.
type Variable = (Option<usize>, usize);

/// Numbers of threads that are looked at one by one.
const NUMBERS: u64 = 200;

/// A global that holds the number of a thread.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Owner {
    /// The value that stands for the executing thread.
    pub me: Option<Expr>,
    /// The constants that it is compared with or set to.
    pub constants: BTreeSet<u64>,
}

impl Owner {
    /// The value that stands for the thread with this number.
    pub fn value_of(&self, thread: u64) -> Option<u64> {
        value_of(self.me.as_ref()?, thread)
    }
}

/// What is known of the identities in a program.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub owners: BTreeMap<usize, Owner>,
}

/// Why proofs for any number of threads do not take a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("it uses priorities")]
    Priorities,
    #[error("two threads step together at an unbuffered channel")]
    Rendezvous,
    #[error("threads have channels of their own")]
    LocalChannels,
    #[error("it allocates memory: `{0}`")]
    Allocation(String),
    #[error("threads create threads: `{0}`")]
    NestedCreation(String),
    #[error("an atomic sequence waits for threads: `{0}`")]
    AtomicWait(String),
    #[error("the number of a thread is kept at an address")]
    AddressableNumber,
    #[error("the handle of a thread is kept at an address")]
    AddressableHandle,
    #[error("the number of a thread is a constant, too")]
    ConstantNumber,
    #[error("{reason}: `{edge}`")]
    OnEdge { reason: Dependence, edge: String },
}

/// What a step depends on besides shared memory and its own thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Dependence {
    #[error("it uses priorities")]
    Priorities,
    #[error("the number of a thread may be any value")]
    AnyNumber,
    #[error("the number of a thread is received")]
    ReceivedNumber,
    #[error("the number of a thread is computed")]
    ComputedNumber,
    #[error("two numbers of threads are compared")]
    ComparedNumbers,
    #[error("a step depends on the value of a thread's handle")]
    Handle,
    #[error("the number of a thread is used as a value")]
    Number,
    #[error("the number of the executing thread is used as a value")]
    OwnNumber,
    #[error("a step depends on other threads")]
    OtherThreads,
}

impl Rules {
    /// For a program without handles; the error says why proofs for any number of threads do not
    /// take it.
    pub fn new(program: &Program) -> Result<Rules, Refusal> {
        if program.priority_scheduling || program.uses_priorities() {
            return Err(Refusal::Priorities);
        }
        if program.channels.iter().any(|channel| channel.capacity == 0) {
            return Err(Refusal::Rendezvous);
        }
        if program.templates.iter().any(|t| !t.channels.is_empty()) {
            return Err(Refusal::LocalChannels);
        }
        let mut rules = Rules::default();
        rules.find_owners(program)?;
        let mut spawned: BTreeSet<usize> = BTreeSet::new();
        for effect in program.effects() {
            if let Effect::Spawn { template, .. } = effect {
                spawned.insert(template.index());
            }
        }
        for (number, template) in program.templates.iter().enumerate() {
            for edge in template.locations.iter().flat_map(|l| &l.edges) {
                let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
                if spawned.contains(&number) && edge.effects.iter().any(spawns) {
                    return Err(Refusal::NestedCreation(edge.text.clone()));
                }
                let allocates = |effect: &Effect| matches!(effect, Effect::Allocate { .. });
                if edge.effects.iter().any(allocates) {
                    return Err(Refusal::Allocation(edge.text.clone()));
                }
                rules
                    .check_edge(edge, number)
                    .map_err(|reason| Refusal::OnEdge {
                        reason,
                        edge: edge.text.clone(),
                    })?;
            }
        }
        rules.check_numbers()?;
        Ok(rules)
    }

    /// Whether the accesses that count for data races depend on shared memory and their own thread
    /// only, and all happen where other threads may move.
    pub fn take_accesses_of(&self, program: &Program) -> bool {
        let mut copy = self.clone();
        for (template, body) in program.templates.iter().enumerate() {
            for place in &body.locations {
                let changes = |edge: &Edge| !edge.effects.is_empty();
                if place.atomic && (!place.accesses.is_empty() || place.edges.iter().any(changes)) {
                    return false;
                }
                let mut exprs = place.accesses.iter().flat_map(|access| access.exprs());
                if !exprs.all(|expr| copy.check(expr, template).is_ok()) {
                    return false;
                }
            }
        }
        copy.owners == self.owners
    }

    pub fn is_owner(&self, template: Option<usize>, variable: usize) -> bool {
        template.is_none() && self.owners.contains_key(&variable)
    }

    fn find_owners(&mut self, program: &Program) -> Result<(), Refusal> {
        for effect in program.effects() {
            let Effect::Assign { place, value } = effect else {
                continue;
            };
            let VariableRef::Global(id) = place.variable else {
                continue;
            };
            if names_the_thread(value) {
                let owner = self.owners.entry(id.index()).or_default();
                values(value, &mut |value| {
                    if names_the_thread(value) && owner.me.is_none() {
                        owner.me = Some(value.clone());
                    }
                });
            }
        }
        for &variable in self.owners.keys() {
            if program.globals[variable].addressable {
                return Err(Refusal::AddressableNumber);
            }
        }
        Ok(())
    }

    /// Threads have different numbers, which are not among the constants.
    fn check_numbers(&self) -> Result<(), Refusal> {
        for owner in self.owners.values() {
            let mut known = owner.constants.clone();
            for thread in 0..NUMBERS {
                match owner.value_of(thread) {
                    Some(value) if known.insert(value) => {}
                    _ => return Err(Refusal::ConstantNumber),
                }
            }
        }
        Ok(())
    }

    fn check_edge(&mut self, edge: &Edge, template: usize) -> Result<(), Dependence> {
        self.check(&edge.guard, template)?;
        for effect in &edge.effects {
            for place in effect.written_places() {
                self.check(&place.index, template)?;
            }
            let owner = effect
                .written_places()
                .into_iter()
                .map(|place| variable(place, template))
                .find(|&(of, number)| self.is_owner(of, number));
            match (effect, owner) {
                (Effect::Assign { value, .. }, Some((_, number))) => {
                    self.check_owner_value(number, value, template)?;
                }
                (Effect::Receive { .. }, Some(_)) => return Err(Dependence::ReceivedNumber),
                (_, Some(_)) => return Err(Dependence::AnyNumber),
                (Effect::SetPriority { .. }, None) => return Err(Dependence::Priorities),
                (effect, None) => {
                    let mut result = Ok(());
                    effect.parts(&mut |part| {
                        result = result.and_then(|()| self.check(part, template));
                    });
                    result?;
                }
            }
        }
        Ok(())
    }

    /// A value for an owner: a constant, the executing thread, or a choice between such.
    fn check_owner_value(
        &mut self,
        owner: usize,
        value: &Expr,
        template: usize,
    ) -> Result<(), Dependence> {
        match value {
            Expr::If(condition, then, otherwise) => {
                self.check(condition, template)?;
                self.check_owner_value(owner, then, template)?;
                self.check_owner_value(owner, otherwise, template)
            }
            Expr::Const { value, .. } => {
                self.owners
                    .entry(owner)
                    .or_default()
                    .constants
                    .insert(*value);
                Ok(())
            }
            _ if self.owners[&owner].me.as_ref() == Some(value) => Ok(()),
            _ => Err(Dependence::ComputedNumber),
        }
    }

    /// Whether an expression depends on shared memory and its own thread only.
    fn check(&mut self, expr: &Expr, template: usize) -> Result<(), Dependence> {
        match expr {
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                for (one, other) in [(a, b), (b, a)] {
                    // Compared in a wider type with a constant: the same as with a constant of its own
                    // type, or with none that it can have.
                    if let (Expr::Resize { arg, width, signed }, Expr::Const { value, .. }) =
                        (&**one, &**other)
                        && let Expr::Read(place) = &**arg
                        && arg.width() <= *width
                        && let (None, number) = variable(place, template)
                        && let Some(owner) = self.owners.get_mut(&number)
                    {
                        let own = Expr::constant(*value as i64, arg.width());
                        if own.clone().resize(*width, *signed) == **other {
                            owner.constants.extend(own.as_const());
                        }
                        return self.check(&place.index, template);
                    }
                    if let Expr::Read(place) = &**one
                        && let (None, number) = variable(place, template)
                        && let Some(owner) = self.owners.get_mut(&number)
                    {
                        match &**other {
                            Expr::Const { value, .. } => {
                                owner.constants.insert(*value);
                            }
                            other if owner.me.as_ref() == Some(other) => {}
                            _ => return Err(Dependence::ComparedNumbers),
                        }
                        return self.check(&place.index, template);
                    }
                }
                self.check(a, template)?;
                self.check(b, template)
            }
            Expr::Read(place) => {
                let (of, number) = variable(place, template);
                if self.is_owner(of, number) {
                    return Err(Dependence::Number);
                }
                self.check(&place.index, template)
            }
            Expr::ThreadId => Err(Dependence::OwnNumber),
            Expr::ThreadCount
            | Expr::ThreadAt { .. }
            | Expr::RemoteRead { .. }
            | Expr::ThreadPriority(_)
            | Expr::Timeout => Err(Dependence::OtherThreads),
            _ => {
                let mut result = Ok(());
                expr.parts(&mut |part| {
                    result = result.and_then(|()| self.check(part, template));
                });
                result
            }
        }
    }
}

fn variable(place: &Place, template: usize) -> Variable {
    match place.variable {
        VariableRef::Global(id) => (None, id.index()),
        VariableRef::Local(id) => (Some(template), id.index()),
    }
}

pub fn names_the_thread(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part, Expr::ThreadId));
    found
}

/// The value for the thread with this number; none if it depends on anything else.
fn value_of(me: &Expr, thread: u64) -> Option<u64> {
    fn fold(expr: &Expr, thread: u64) -> Expr {
        match expr {
            Expr::ThreadId => Expr::constant(thread as i64, INDEX_WIDTH),
            _ => fold_parts(expr, &mut |part| fold(part, thread)),
        }
    }
    fold(me, thread).as_const()
}

/// The values that a choice chooses between.
fn values(expr: &Expr, visit: &mut impl FnMut(&Expr)) {
    match expr {
        Expr::If(_, then, otherwise) => {
            values(then, visit);
            values(otherwise, visit);
        }
        _ => visit(expr),
    }
}
