//! Which programs the modular engine takes, and which values are thread identities.
//!
//! In a proof for any number of threads, two kinds of values cannot be written into an invariant
//! as they are:
//!
//! - *Handles* of threads (`pthread_t`), which the translation bounds. A handle is *opaque*: it may
//!   be copied, passed to threads and used as an index, but nothing may depend on its value. Rows
//!   with a cell for each handle (which threads are there, what they returned) hold any value at
//!   any time. So a join never waits, and the bound on handles does not exist.
//! - *Owners*: globals that hold the number of a thread, such as locks. They may only be compared
//!   with constants and with the number of the executing thread, so it is enough to know whether
//!   the owner is a given thread, another one, or nobody.
//!
//! A step must depend on shared memory and on its own thread only, so that it is the same step
//! beside any other threads. What does not keep to this is refused, with the reason.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef};
use mover_ir::program::{Edge, Effect, Program};

/// A variable of the program or of a template.
type Variable = (Option<usize>, usize);

/// A global that holds the number of a thread.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// The value that stands for the executing thread.
    pub me: Option<Expr>,
    /// The constants that it is compared with or set to.
    pub constants: BTreeSet<u64>,
}

/// What is known of the identities in a program.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Rows that hold any value at any time.
    pub free_rows: BTreeSet<usize>,
    pub opaque: BTreeSet<Variable>,
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
    #[error("threads create threads: `{0}`")]
    NestedCreation(String),
    #[error("an atomic sequence creates or joins threads: `{0}`")]
    AtomicCreation(String),
    #[error("the number of a thread is kept at an address")]
    AddressableNumber,
    #[error("the handle of a thread is kept at an address")]
    AddressableHandle,
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
    /// The error says why proofs for any number of threads do not take the program.
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
        rules
            .free_rows
            .extend(program.presence.map(|row| row.index()));
        rules.find_opaque(program);
        rules.find_owners(program)?;
        let mut spawned: BTreeSet<usize> = BTreeSet::new();
        for effect in program.effects() {
            if let Effect::Spawn { template, .. } = effect {
                spawned.insert(template.index());
            }
        }
        for (number, template) in program.templates.iter().enumerate() {
            for location in &template.locations {
                for edge in &location.edges {
                    let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
                    if spawned.contains(&number) && edge.effects.iter().any(spawns) {
                        return Err(Refusal::NestedCreation(edge.text.clone()));
                    }
                    if location.atomic && rules.touches_free_row(edge) {
                        return Err(Refusal::AtomicCreation(edge.text.clone()));
                    }
                    rules
                        .check_edge(edge, number)
                        .map_err(|reason| Refusal::OnEdge {
                            reason,
                            edge: edge.text.clone(),
                        })?;
                }
            }
        }
        Ok(rules)
    }

    /// Whether nothing may be said of a variable.
    pub fn is_opaque(&self, template: Option<usize>, variable: usize) -> bool {
        self.opaque.contains(&(template, variable))
            || template.is_none() && self.free_rows.contains(&variable)
    }

    fn find_opaque(&mut self, program: &Program) {
        loop {
            let before = (self.opaque.len(), self.free_rows.len());
            for (template, body) in program.templates.iter().enumerate() {
                let edges = body.locations.iter().flat_map(|location| &location.edges);
                for edge in edges {
                    edge.guard
                        .walk(&mut |expr| self.note_index(expr, template, program));
                    for effect in &edge.effects {
                        effect.walk(&mut |expr| self.note_index(expr, template, program));
                        self.note_flow(effect, template, program);
                    }
                }
            }
            if before == (self.opaque.len(), self.free_rows.len()) {
                return;
            }
        }
    }

    /// A row that is indexed by a handle is one of handles.
    fn note_index(&mut self, expr: &Expr, template: usize, program: &Program) {
        if let Expr::Read(place) = expr {
            self.note_place(place, template, program);
        }
    }

    fn note_place(&mut self, place: &Place, template: usize, program: &Program) {
        if let VariableRef::Global(id) = place.variable
            && program.globals[id.index()].len > 1
            && self.carries(&place.index, template, program)
        {
            self.free_rows.insert(id.index());
        }
    }

    fn note_flow(&mut self, effect: &Effect, template: usize, program: &Program) {
        match effect {
            Effect::Assign { place, value } => {
                self.note_place(place, template, program);
                if self.carries(value, template, program) {
                    self.mark(place, template);
                }
            }
            Effect::Spawn {
                template: made,
                args,
                result,
                ..
            } => {
                for (param, arg) in args.iter().enumerate() {
                    if self.carries(arg, template, program) {
                        self.opaque.insert((Some(made.index()), param));
                    }
                }
                if let Some(place) = result {
                    self.mark(place, template);
                }
            }
            _ => {}
        }
    }

    fn mark(&mut self, place: &Place, template: usize) {
        let variable = variable(place, template);
        if !(variable.0.is_none() && self.free_rows.contains(&variable.1)) {
            self.opaque.insert(variable);
        }
    }

    /// Whether a value may be a handle.
    fn carries(&self, expr: &Expr, template: usize, program: &Program) -> bool {
        match expr {
            Expr::Read(place) => {
                let read = variable(place, template);
                let presence = program.presence.map(|row| (None, row.index()));
                Some(read) == presence || self.opaque.contains(&read)
            }
            _ => {
                let mut found = false;
                expr.parts(&mut |part| found |= self.carries(part, template, program));
                found
            }
        }
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
        let globals = self.opaque.iter().filter(|(of, _)| of.is_none());
        let mut rows = globals
            .map(|&(_, number)| number)
            .chain(self.free_rows.iter().copied());
        if rows.any(|number| program.globals[number].addressable) {
            return Err(Refusal::AddressableHandle);
        }
        Ok(())
    }

    fn touches_free_row(&self, edge: &Edge) -> bool {
        let mut found = false;
        let mut look = |expr: &Expr| {
            if let Expr::Read(place) = expr
                && let VariableRef::Global(id) = place.variable
            {
                found |= self.free_rows.contains(&id.index());
            }
        };
        edge.guard.walk(&mut look);
        for effect in &edge.effects {
            effect.walk(&mut look);
        }
        let writes = |effect: &Effect| match effect {
            Effect::Assign { place, .. } => {
                matches!(place.variable, VariableRef::Global(id) if self.free_rows.contains(&id.index()))
            }
            Effect::Spawn { .. } => true,
            _ => false,
        };
        found || edge.effects.iter().any(writes)
    }

    fn check_edge(&mut self, edge: &Edge, template: usize) -> Result<(), Dependence> {
        self.check(&edge.guard, template, false)?;
        for effect in &edge.effects {
            match effect {
                Effect::Assign { place, value } => {
                    let target = variable(place, template);
                    if let (None, number) = target
                        && self.owners.contains_key(&number)
                    {
                        self.check(&place.index, template, false)?;
                        self.check_owner_value(number, value, template)?;
                        continue;
                    }
                    let is_free = target.0.is_none() && self.free_rows.contains(&target.1);
                    let opaque = is_free || self.opaque.contains(&target);
                    self.check(&place.index, template, is_free)?;
                    self.check(value, template, opaque)?;
                }
                Effect::Havoc { place, .. } => {
                    self.check(&place.index, template, false)?;
                    if let (None, number) = variable(place, template)
                        && self.owners.contains_key(&number)
                    {
                        return Err(Dependence::AnyNumber);
                    }
                }
                Effect::Spawn {
                    template: made,
                    args,
                    ..
                } => {
                    for (param, arg) in args.iter().enumerate() {
                        let opaque = self.opaque.contains(&(Some(made.index()), param));
                        self.check(arg, template, opaque)?;
                    }
                }
                Effect::SetPriority { .. } => return Err(Dependence::Priorities),
                Effect::Receive { args, .. } => {
                    for arg in args {
                        if let mover_ir::expr::ReceiveArg::Store(place) = arg
                            && let (None, number) = variable(place, template)
                            && self.owners.contains_key(&number)
                        {
                            return Err(Dependence::ReceivedNumber);
                        }
                    }
                    let mut result = Ok(());
                    effect.parts(&mut |part| {
                        result = result.and_then(|()| self.check(part, template, false));
                    });
                    result?;
                }
                _ => {
                    let mut result = Ok(());
                    effect.parts(&mut |part| {
                        result = result.and_then(|()| self.check(part, template, false));
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
                self.check(condition, template, false)?;
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

    /// Whether an expression depends on shared memory and its own thread only. Of handles only where
    /// `opaque`.
    fn check(&mut self, expr: &Expr, template: usize, opaque: bool) -> Result<(), Dependence> {
        match expr {
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                for (one, other) in [(a, b), (b, a)] {
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
                        return self.check(&place.index, template, false);
                    }
                }
                self.check(a, template, opaque)?;
                self.check(b, template, opaque)
            }
            Expr::Read(place) => {
                let read = variable(place, template);
                let is_free = read.0.is_none() && self.free_rows.contains(&read.1);
                if self.opaque.contains(&read) && !opaque {
                    return Err(Dependence::Handle);
                }
                if read.0.is_none() && self.owners.contains_key(&read.1) {
                    return Err(Dependence::Number);
                }
                self.check(&place.index, template, is_free)
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
                    result = result.and_then(|()| self.check(part, template, opaque));
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

fn names_the_thread(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part, Expr::ThreadId));
    found
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
