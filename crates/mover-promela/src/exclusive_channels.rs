//! `xr` and `xs`: a process says that nobody else receives from a channel, or sends to it.
//!
//! SPIN's verifier notes the declarations of a process when the process is created, wherever they stand in its body.
//! From then on the channel belongs to that process number, even if the process ends. Whoever else is about to
//! receive from the channel (or to send to it), even if that is not possible yet, violates the declaration; so does a
//! second process that declares the same. Asking for the length counts as both, `nempty` as receiving, `nfull` as
//! sending. A channel without a buffer, or none at all, cannot be declared.
//!
//! Here each channel of the model has a cell for its receiver and one for its sender, with the number of the process
//! plus one. Creation of a process sets the cells, and what uses a channel asks them. SPIN keeps these cells outside of
//! the state, so that what it finds depends on the order of its search if only some runs create the process; here a
//! declaration counts in the runs that make it.
//!
//! Channels of processes have no cells. A declaration about one is kept if no other use of the channel is possible,
//! by the flow of channels ([`crate::channel_flow`]); otherwise it is a claim that is not checked.

use std::collections::BTreeSet;

use mover_ir::claim::{self, Claim, ClaimKind};
use mover_ir::expr::{BinaryOp, ChannelRef, Expr, Place, Ty, VariableRef};
use mover_ir::program::{
    CellNames, Edge, Effect, Init, Location, LocationId, Program, Variable, VariableId,
};
use mover_source::Span;

use crate::ast::{ChannelEnd, Path, Sequence, StatementKind};
use crate::channel_flow::{Channel, Flow};
use crate::constants::{InitialState, evaluate};
use crate::context::Context;
use crate::model::StatementNumbers;
use crate::substitute::at_creation;
use crate::values::Check;

/// One `xr` or `xs` of a process.
#[derive(Clone)]
struct Declared {
    process: usize,
    end: ChannelEnd,
    /// In the words of the process as it is created; none if that is not clear.
    channel: Option<Expr>,
    /// What must hold for the channel to be meant: indices are in bounds.
    checks: Vec<Check>,
    text: String,
    span: Span,
}

/// A process of the start whose declaration is wrong from the beginning.
struct WrongStart {
    process: usize,
    number: u32,
    message: String,
    span: Span,
}

/// The channels of one kind of declaration.
struct Side {
    /// The cells of the processes.
    owners: VariableId,
    /// The channels of the model that may be declared.
    channels: BTreeSet<u32>,
}

#[derive(Default)]
pub struct ExclusiveChannels {
    declared: Vec<Declared>,
    receive: Option<Side>,
    send: Option<Side>,
    wrong_starts: Vec<WrongStart>,
}

impl ExclusiveChannels {
    fn side(&self, end: ChannelEnd) -> Option<&Side> {
        match end {
            ChannelEnd::Receive => self.receive.as_ref(),
            ChannelEnd::Send => self.send.as_ref(),
        }
    }
}

fn word(end: ChannelEnd) -> &'static str {
    match end {
        ChannelEnd::Receive => "xr",
        ChannelEnd::Send => "xs",
    }
}

/// All declarations in a body.
fn collect<'a>(sequence: &'a Sequence, found: &mut Vec<(ChannelEnd, &'a Path)>) {
    let mut open: Vec<_> = sequence.statements.iter().collect();
    while let Some(statement) = open.pop() {
        match &statement.kind {
            StatementKind::ExclusiveAccess(end, paths) => {
                found.extend(paths.iter().map(|path| (*end, path)));
            }
            StatementKind::If(options) | StatementKind::Do(options) => {
                open.extend(options.iter().flat_map(|option| &option.statements));
            }
            StatementKind::ForRange { body, .. }
            | StatementKind::ForIn { body, .. }
            | StatementKind::Atomic(body)
            | StatementKind::DStep(body)
            | StatementKind::Block(body) => open.extend(&body.statements),
            StatementKind::Unless { normal, escape } => open.extend([&**normal, &**escape]),
            _ => {}
        }
    }
}

impl Context<'_> {
    /// Notes the declarations of a process, whose head is declared.
    pub fn declare_exclusive(&mut self, process: usize, body: &Sequence) {
        let mut found = Vec::new();
        collect(body, &mut found);
        self.process = Some(process);
        for (end, path) in found {
            // Names of inner scopes are not known here; the body reports names that do not exist.
            let is_known = self.find(&path.elements[0].name.text).is_some();
            let channel = is_known.then(|| self.channel(path)).flatten();
            let (channel, mut checks) = match channel {
                Some(channel) => (self.at_head(process, channel.expr), channel.checks),
                None => (None, Vec::new()),
            };
            // Whether the channel exists is asked in any case.
            checks.retain(|check| !matches!(check.holds, Expr::ChannelExists(_)));
            let text = self.text(path.span);
            self.exclusive_channels.declared.push(Declared {
                process,
                end,
                channel,
                checks,
                text,
                span: path.span,
            });
        }
        self.process = None;
    }

    /// A channel of a head: variables of the process hold what they are initialised with.
    fn at_head(&self, process: usize, expr: Expr) -> Option<Expr> {
        let Expr::Read(place) = &expr else {
            return Some(expr);
        };
        let VariableRef::Local(id) = place.variable else {
            return Some(expr);
        };
        let info = &self.processes[process];
        if id.index() < info.parameters {
            return Some(expr);
        }
        match &info.locals[id.index()].init {
            Init::Channels(channels) => {
                let index = place.index.as_const()?;
                channels.get(index as usize).copied().map(Expr::Channel)
            }
            _ => None,
        }
    }

    /// Makes the cells of the owners, with those that exist from the start.
    pub fn make_exclusive_cells(&mut self, starts: &[(usize, u8)]) {
        for end in [ChannelEnd::Receive, ChannelEnd::Send] {
            let declared = self.exclusive_channels.declared.iter();
            let declared: Vec<Declared> = declared.filter(|one| one.end == end).cloned().collect();
            let mut channels = BTreeSet::new();
            for one in &declared {
                match one.channel {
                    Some(Expr::Channel(ChannelRef::Global(number))) => {
                        channels.insert(number);
                    }
                    Some(Expr::Channel(ChannelRef::Local(_))) | None => {}
                    Some(_) => channels.extend(0..self.channels.len() as u32),
                }
            }
            let mut owners = vec![0; self.channels.len()];
            for (number, &(process, _)) in (0..).zip(starts) {
                for one in declared.iter().filter(|one| one.process == process) {
                    let Some(channel) = &one.channel else {
                        continue;
                    };
                    match self.begin_exclusive(one, channel, number, &mut owners) {
                        Ok(()) => {}
                        Err(message) => self.exclusive_channels.wrong_starts.push(WrongStart {
                            process,
                            number,
                            message,
                            span: one.span,
                        }),
                    }
                }
            }
            if channels.is_empty() {
                continue;
            }
            let row = VariableId(self.globals.len() as u32);
            self.globals.push(Variable {
                name: format!("%{}", word(end)),
                ty: Ty::BYTE,
                len: owners.len() as u32,
                is_array: true,
                init: Init::Cells(owners),
                symbols: None,
                addressable: false,
                names: CellNames::default(),
                span: None,
            });
            let side = Side {
                owners: row,
                channels,
            };
            match end {
                ChannelEnd::Receive => self.exclusive_channels.receive = Some(side),
                ChannelEnd::Send => self.exclusive_channels.send = Some(side),
            }
        }
    }

    /// A declaration of a process that exists from the start.
    fn begin_exclusive(
        &self,
        one: &Declared,
        channel: &Expr,
        number: u32,
        owners: &mut [u64],
    ) -> Result<(), String> {
        let found = match channel {
            Expr::Channel(found) => Some(*found),
            Expr::Read(place) => match place.variable {
                // Arguments of processes of the start are 0.
                VariableRef::Local(_) => None,
                VariableRef::Global(id) => {
                    let state = InitialState {
                        globals: &self.globals,
                        locals: &[],
                        thread: Some(number),
                    };
                    let cell = evaluate(&place.index, &state).unwrap_or(u64::MAX);
                    match &self.globals[id.index()].init {
                        Init::Channels(all) => all.get(cell as usize).copied(),
                        _ => None,
                    }
                }
            },
            _ => None,
        };
        match found {
            None => Err(missing(one)),
            Some(ChannelRef::Local(own)) => {
                let declared = &self.processes[one.process].channels[own as usize];
                match declared.capacity {
                    0 => Err(unbuffered(one)),
                    _ => Ok(()),
                }
            }
            Some(ChannelRef::Global(global)) => {
                if self.channels[global as usize].capacity == 0 {
                    return Err(unbuffered(one));
                }
                let owner = &mut owners[global as usize];
                let own = u64::from(number) + 1;
                if *owner != 0 && *owner != own {
                    return Err(second(one));
                }
                *owner = own;
                Ok(())
            }
        }
    }

    /// What a use of a channel asks the owners.
    pub fn exclusive_checks(&self, channel: &Expr, ends: &[ChannelEnd], span: Span) -> Vec<Check> {
        if self.in_monitor {
            return Vec::new();
        }
        let own = Expr::binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1));
        let mut checks = Vec::new();
        for &end in ends {
            let Some(side) = self.exclusive_channels.side(end) else {
                continue;
            };
            let mut holds = Expr::TRUE;
            for &number in &side.channels {
                let may_use = is_free_or(side.owners, number, &own);
                holds = holds.and(is_channel(channel, number).negate().or(may_use));
            }
            if holds != Expr::TRUE {
                checks.push(Check {
                    holds,
                    message: format!(
                        "{} assertion violated: another process uses `{}`",
                        word(end),
                        self.text(span)
                    ),
                    span,
                });
            }
        }
        checks
    }

    /// What the creation of a process with these arguments must find, and what it notes.
    pub fn exclusive_at_creation(
        &self,
        process: usize,
        args: &[Expr],
    ) -> (Vec<Check>, Vec<Effect>) {
        let (mut checks, mut effects) = (Vec::new(), Vec::new());
        let new = Expr::binary(BinaryOp::Add, Expr::ThreadCount, Expr::int(1));
        let declared = self.exclusive_channels.declared.iter();
        for one in declared.filter(|one| one.process == process) {
            let Some(channel) = &one.channel else {
                continue;
            };
            let locals = &self.processes[process].locals;
            for check in &one.checks {
                let holds = at_creation(&check.holds, args, locals, &Expr::ThreadCount);
                checks.push(one.check(holds, check.message.clone()));
            }
            let channel = match channel {
                Expr::Channel(ChannelRef::Local(own)) => {
                    if self.processes[process].channels[*own as usize].capacity == 0 {
                        checks.push(one.check(Expr::FALSE, unbuffered(one)));
                    }
                    continue;
                }
                other => at_creation(other, args, locals, &Expr::ThreadCount),
            };
            if !matches!(channel, Expr::Channel(_)) {
                let exists = Expr::ChannelExists(Box::new(channel.clone()));
                checks.push(one.check(exists, missing(one)));
            }
            let capacity = Expr::ChannelCapacity(Box::new(channel.clone()));
            let is_buffered = Expr::binary(BinaryOp::Ne, capacity, Expr::int(0));
            checks.push(one.check(is_buffered, unbuffered(one)));
            let Some(side) = self.exclusive_channels.side(one.end) else {
                continue;
            };
            for &number in &side.channels {
                let is_meant = is_channel(&channel, number);
                if is_meant == Expr::FALSE {
                    continue;
                }
                let may_declare = is_free_or(side.owners, number, &new);
                let holds = is_meant.clone().negate().or(may_declare);
                checks.push(one.check(holds, second(one)));
                let cell = owner(side.owners, number);
                let value = Expr::If(
                    Box::new(is_meant),
                    Box::new(new.clone().resize(Ty::BYTE.width, false)),
                    Box::new(Expr::Read(cell.clone())),
                );
                effects.push(Effect::Assign { place: cell, value });
            }
        }
        (checks, effects)
    }
}

impl Declared {
    fn check(&self, holds: Expr, message: String) -> Check {
        Check {
            holds,
            message,
            span: self.span,
        }
    }
}

fn missing(one: &Declared) -> String {
    format!("`{} {}` refers to no channel", word(one.end), one.text)
}

fn unbuffered(one: &Declared) -> String {
    format!(
        "`{} {}` is about a channel without a buffer",
        word(one.end),
        one.text
    )
}

fn second(one: &Declared) -> String {
    format!(
        "{} assertion violated: a second process declares `{}`",
        word(one.end),
        one.text
    )
}

fn is_channel(channel: &Expr, number: u32) -> Expr {
    match channel {
        Expr::Channel(ChannelRef::Global(known)) => Expr::constant(i64::from(*known == number), 1),
        Expr::Channel(ChannelRef::Local(_)) => Expr::FALSE,
        other => {
            let known = Expr::Channel(ChannelRef::Global(number));
            Expr::binary(BinaryOp::Eq, other.clone(), known)
        }
    }
}

fn owner(row: VariableId, number: u32) -> Place {
    let index = Expr::int(i64::from(number));
    Place::element(VariableRef::Global(row), index, Ty::BYTE)
}

/// Whether a channel has no owner, or this one; `own` is a number of a process plus one.
fn is_free_or(row: VariableId, number: u32, own: &Expr) -> Expr {
    let found = Expr::Read(owner(row, number)).resize(32, false);
    let is_free = Expr::binary(BinaryOp::Eq, found.clone(), Expr::int(0));
    is_free.or(Expr::binary(BinaryOp::Eq, found, own.clone()))
}

impl ExclusiveChannels {
    /// Adds to a program the errors of its start and the claims that are not checked.
    pub fn finish(
        self,
        program: &mut Program,
        numbers: &mut StatementNumbers,
        line_of: impl Fn(Span) -> usize,
    ) {
        for wrong in self.wrong_starts {
            let template = &mut program.templates[wrong.process];
            let error = LocationId(template.locations.len() as u32);
            template.locations.push(Location {
                span: Some(wrong.span),
                ..Location::failure(wrong.message.clone(), None)
            });
            let number = Expr::int(i64::from(wrong.number));
            let edges = &mut template.locations[template.entry.index()].edges;
            let priority = edges.iter().map(|edge| edge.priority).max().unwrap_or(0);
            edges.push(Edge {
                priority,
                guard: Expr::binary(BinaryOp::Eq, Expr::ThreadId, number),
                effects: Vec::new(),
                target: error,
                span: Some(wrong.span),
                text: wrong.message,
                sync: Vec::new(),
            });
            let numbers = &mut numbers[wrong.process];
            numbers[template.entry.index()].push(None);
            numbers.push(Vec::new());
        }
        if self.declared.is_empty() {
            return;
        }
        let flow = Flow::find(program);
        let mut open = Vec::new();
        for one in &self.declared {
            let process = one.process as u32;
            let is_kept = match &one.channel {
                None => Err("what it refers to is not known when the process is created"),
                Some(channel) => {
                    let own = flow.meant(process, channel).into_iter();
                    let mut own = own.filter(|channel| matches!(channel, Channel::Own(..)));
                    match own.all(|found| is_alone(program, &flow, one, channel, found)) {
                        true => Ok(()),
                        false => Err("the channel belongs to a process and others may know it"),
                    }
                }
            };
            if let Err(reason) = is_kept {
                open.push(Claim {
                    kind: ClaimKind::ExclusiveChannel,
                    name: Some(format!("{} {}", word(one.end), one.text)),
                    line: Some(line_of(one.span)),
                    check: claim::Check::Untranslated(reason.into()),
                });
            }
        }
        program.info_mut().claims.extend(open);
    }
}

/// Whether a channel of processes is used, in the declared way, by its process alone: by its name.
fn is_alone(
    program: &Program,
    flow: &Flow,
    one: &Declared,
    declared: &Expr,
    found: Channel,
) -> bool {
    if !matches!(declared, Expr::Channel(_)) {
        return false;
    }
    let mut is_alone = true;
    for (template, body) in (0..).zip(&program.templates) {
        let mut used = |channel: &Expr| {
            let is_by_name = template == one.process as u32 && channel == declared;
            is_alone &= is_by_name || !flow.meant(template, channel).contains(&found);
        };
        for edge in body.locations.iter().flat_map(|location| &location.edges) {
            let mut asked = |part: &Expr| match part {
                Expr::ChannelLen(channel) | Expr::CanReceive { channel, .. } => used(channel),
                _ => {}
            };
            edge.guard.walk(&mut asked);
            for effect in &edge.effects {
                effect.walk(&mut asked);
            }
            for effect in &edge.effects {
                match (effect, one.end) {
                    (Effect::Send { channel, .. }, ChannelEnd::Send)
                    | (Effect::Receive { channel, .. }, ChannelEnd::Receive) => used(channel),
                    _ => {}
                }
            }
        }
    }
    is_alone
}
