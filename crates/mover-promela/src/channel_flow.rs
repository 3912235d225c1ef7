//! Which channels a channel variable may stand for.
//!
//! A message with a wrong number of fields is an error. Where the channel is named in the source, or is one of the
//! model's own channels, the error is an edge ([`crate::values`]). A channel of a process that came by a message, a
//! parameter or an assignment cannot be compared with anything in a guard. For those this module computes the
//! channels that may be meant: a flow analysis without control flow, in which variables and the fields of messages
//! hold sets of channels (after Andersen 1994, with fields). If one of them takes another number of fields, the
//! step also leads to a bound, so that `safe` is not said of its runs.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, ChannelRef, Expr, ReceiveArg, VariableRef};
use mover_ir::program::{
    BoundKind, BoundMark, ChannelDecl, Edge, Effect, Init, Location, LocationId, Program,
    TemplateId, VariableId,
};

use crate::model::StatementNumbers;

/// A channel: one of the model, or one of each process of a template.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    Global(u32),
    Own(u32, u32),
}

/// What may hold channels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    Global(VariableId),
    Local(u32, VariableId),
    Field(Channel, usize),
}

pub type Channels = BTreeSet<Channel>;

pub struct Flow<'p> {
    program: &'p Program,
    held: BTreeMap<Holder, Channels>,
    is_stable: bool,
}

/// Lets steps end in a bound whose message may have another number of fields than its channel.
pub fn bound_unclear_messages(program: &mut Program, numbers: &mut StatementNumbers) {
    let has_own = program.templates.iter().any(|t| !t.channels.is_empty());
    if !has_own {
        return;
    }
    let flow = Flow::find(program);
    let mut unclear: Vec<(usize, usize, usize, Expr)> = Vec::new();
    for (number, template) in program.templates.iter().enumerate() {
        for (at, location) in template.locations.iter().enumerate() {
            for (which, edge) in location.edges.iter().enumerate() {
                if !leads_to_error(&template.locations, edge)
                    && let Some(channel) = flow.unclear_channel(number as u32, edge)
                {
                    unclear.push((number, at, which, channel));
                }
            }
        }
    }
    for (template, at, which, channel) in unclear {
        let globals = 0..program.channels.len() as u32;
        let is_own = globals.fold(Expr::TRUE, |all, number| {
            let known = Expr::Channel(ChannelRef::Global(number));
            all.and(Expr::binary(BinaryOp::Eq, channel.clone(), known).negate())
        });
        let locations = &mut program.templates[template].locations;
        let between = LocationId(locations.len() as u32);
        let end = LocationId(between.0 + 1);
        let edge = &locations[at].edges[which];
        let ends = Edge {
            guard: edge.guard.clone().and(is_own),
            target: between,
            ..edge.clone()
        };
        let onwards = Edge {
            priority: 0,
            guard: Expr::TRUE,
            effects: Vec::new(),
            target: end,
            ..edge.clone()
        };
        let span = edge.span;
        locations[at].edges.push(ends);
        locations.push(Location {
            atomic: true,
            edges: vec![onwards],
            span,
            ..Location::default()
        });
        locations.push(Location {
            bound: Some(BoundMark {
                kind: BoundKind::MessageFields,
                message: "a channel of a process may take messages with another number of fields"
                    .into(),
            }),
            span,
            ..Location::default()
        });
        let numbers = &mut numbers[template];
        let number = numbers[at][which];
        numbers[at].push(number);
        numbers.extend([vec![None], Vec::new()]);
    }
}

/// Whether a step is one that goes wrong: it has as many fields as the wrong channel.
fn leads_to_error(locations: &[Location], edge: &Edge) -> bool {
    let target = &locations[edge.target.index()];
    let is_before = |next: &Edge| locations[next.target.index()].error.is_some();
    target.error.is_some() || matches!(&target.edges[..], [only] if is_before(only))
}

impl<'p> Flow<'p> {
    pub fn find(program: &'p Program) -> Flow<'p> {
        let mut flow = Flow {
            program,
            held: BTreeMap::new(),
            is_stable: false,
        };
        for (number, variable) in (0..).map(VariableId).zip(&program.globals) {
            flow.begin(0, Holder::Global(number), &variable.init);
        }
        for (template, body) in (0..).zip(&program.templates) {
            for (number, variable) in (0..).map(VariableId).zip(&body.locals) {
                flow.begin(template, Holder::Local(template, number), &variable.init);
            }
        }
        while !flow.is_stable {
            flow.is_stable = true;
            for (template, body) in (0..).zip(&program.templates) {
                let edges = body.locations.iter().flat_map(|location| &location.edges);
                for effect in edges.flat_map(|edge| &edge.effects) {
                    flow.pass(template, effect);
                }
            }
        }
        flow
    }

    fn begin(&mut self, template: u32, holder: Holder, init: &Init) {
        if let Init::Channels(channels) = init {
            let held = channels.iter().map(|&channel| named(template, channel));
            self.add(holder, held.collect());
        }
    }

    fn add(&mut self, holder: Holder, channels: Channels) {
        let held = self.held.entry(holder).or_default();
        let before = held.len();
        held.extend(channels);
        self.is_stable &= held.len() == before;
    }

    /// The channels that the value of an expression may be.
    pub fn meant(&self, template: u32, expr: &Expr) -> Channels {
        let mut found = Channels::new();
        expr.walk(&mut |part| match part {
            Expr::Channel(channel) => {
                found.insert(named(template, *channel));
            }
            Expr::Read(place) => found.extend(self.of(holder(template, place.variable))),
            Expr::RemoteRead {
                template: TemplateId(other),
                variable,
                ..
            } => found.extend(self.of(Holder::Local(*other, *variable))),
            _ => {}
        });
        found
    }

    fn of(&self, holder: Holder) -> impl Iterator<Item = &Channel> {
        self.held.get(&holder).into_iter().flatten()
    }

    fn pass(&mut self, template: u32, effect: &Effect) {
        match effect {
            Effect::Assign { place, value } => {
                let channels = self.meant(template, value);
                self.add(holder(template, place.variable), channels);
            }
            Effect::Send {
                channel, values, ..
            } => {
                for channel in self.meant(template, channel) {
                    for (field, value) in values.iter().enumerate() {
                        let channels = self.meant(template, value);
                        self.add(Holder::Field(channel, field), channels);
                    }
                }
            }
            Effect::Receive { channel, args, .. } => {
                for channel in self.meant(template, channel) {
                    for (field, arg) in args.iter().enumerate() {
                        if let ReceiveArg::Store(place) = arg {
                            let channels = self.of(Holder::Field(channel, field)).copied();
                            let channels = channels.collect();
                            self.add(holder(template, place.variable), channels);
                        }
                    }
                }
            }
            Effect::Spawn {
                template: TemplateId(started),
                args,
                ..
            } => {
                for (number, arg) in (0..).map(VariableId).zip(args) {
                    let channels = self.meant(template, arg);
                    self.add(Holder::Local(*started, number), channels);
                }
            }
            _ => {}
        }
    }

    fn declared(&self, channel: Channel) -> Option<&ChannelDecl> {
        match channel {
            Channel::Global(number) => self.program.channels.get(number as usize),
            Channel::Own(template, number) => {
                let body = &self.program.templates[template as usize];
                body.channels.get(number as usize)
            }
        }
    }

    /// The channel of a message or of a poll that may be a process's own and take another number of
    /// fields. A poll may name too few.
    fn unclear_channel(&self, template: u32, edge: &Edge) -> Option<Expr> {
        let is_unclear = |channel: &Expr, is_wrong: &dyn Fn(usize) -> bool| {
            let is_known = matches!(channel, Expr::Channel(_));
            let mut own = self.meant(template, channel).into_iter();
            let differs = |one: Channel| {
                let fields = self.declared(one).map(|declared| declared.fields.len());
                matches!(one, Channel::Own(..)) && fields.is_some_and(is_wrong)
            };
            (!is_known && own.any(differs)).then(|| channel.clone())
        };
        for effect in &edge.effects {
            let found = match effect {
                Effect::Send {
                    channel, values, ..
                } => is_unclear(channel, &|fields| fields != values.len()),
                Effect::Receive {
                    channel,
                    args,
                    peek,
                    ..
                } => is_unclear(channel, &|fields| match peek {
                    true => args.len() > fields,
                    false => args.len() != fields,
                }),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        let mut found = None;
        edge.guard.walk(&mut |part| {
            if let Expr::CanReceive { channel, args, .. } = part {
                found = found
                    .take()
                    .or_else(|| is_unclear(channel, &|fields| args.len() > fields));
            }
        });
        found
    }
}

fn named(template: u32, channel: ChannelRef) -> Channel {
    match channel {
        ChannelRef::Global(number) => Channel::Global(number),
        ChannelRef::Local(number) => Channel::Own(template, number),
    }
}

fn holder(template: u32, variable: VariableRef) -> Holder {
    match variable {
        VariableRef::Global(id) => Holder::Global(id),
        VariableRef::Local(id) => Holder::Local(template, id),
    }
}
