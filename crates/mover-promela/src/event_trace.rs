//! `trace` and `notrace`: an automaton that reads the messages on channels.
//!
//! Each statement of the body is an event, a send or a receive with constants and `_` for any value. If a send to a
//! channel is among them, every send to that channel is read, and receives likewise. A `trace` is violated by an event
//! that is not possible next, also behind its end, and by a run that stays for ever in a valid end state while the
//! automaton is in the middle (SPIN's "event_trace not completed": some process must still be there). A `notrace` is
//! violated by events that lead to its end; the first other event ends its interest. SPIN has the rule about ends of runs
//! for both.
//!
//! The body is lowered as if it was the body of a process. A send in it is written as a receive that leaves the message,
//! which SPIN has no use for in a trace, because a send cannot say `_`. The automaton's state is a hidden variable, and each
//! edge that sends or receives on a channel in question is split into one for each state that may follow. So all
//! that knows programs knows traces, and what is left of the claim is a formula over the variable.
//!
//! Not translated are forms about which SPIN's verifier is peculiar: it compares a random receive with the oldest
//! message, a sorted send with the last one, and reads the send of a rendezvous that nobody accepts.

use mover_ir::claim::{Check, Monitor, Proposition};
use mover_ir::expr::{BinaryOp, ChannelRef, Expr, Place, ReceiveArg, Ty, VariableRef};
use mover_ir::program::{
    CellNames, ChannelDecl, Edge, Effect, Init, Location, LocationId, Program, TemplateId,
    Variable, VariableId,
};
use mover_ltl::{Formulas, translate};

use crate::ast::{ChannelEnd, ExprKind, ReceiveArgument, Sequence, Statement, StatementKind};
use crate::automaton::Automaton;
use crate::channel_flow::{Channel, Flow};
use crate::model::StatementNumbers;

/// The number of the proposition that some process is not at a proper end.
const NO_PROPER_END: u32 = 3;

/// Why a trace is not checked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    #[error("it has a statement that is no event, or a send to a channel without a buffer")]
    NoEvent,
    #[error(
        "an event has something else than constants and `_`, or another number of fields than its channel"
    )]
    Fields,
    #[error("an event is on a channel that is no constant")]
    Channel,
    #[error("two of its events may be the same one")]
    Nondeterministic,
    #[error("it has a label that begins with `accept` or `progress`")]
    Label,
    #[error("it has too many states")]
    TooManyStates,
    #[error("a sorted send or a random receive uses one of its channels")]
    OutOfOrder,
}

/// One event of an automaton.
struct Event {
    end: ChannelEnd,
    channel: u32,
    /// None for any value.
    fields: Vec<Option<i64>>,
    target: usize,
}

/// The automaton of a trace, to be built into the program.
pub struct EventTrace {
    variable: VariableId,
    /// By state.
    events: Vec<Vec<Event>>,
    is_end: Vec<bool>,
    is_negated: bool,
    /// Which claim of the model it is.
    pub claim: usize,
}

/// The body with receives in place of sends.
pub fn as_receives(body: &Sequence) -> Result<Sequence, Problem> {
    let statements = body.statements.iter().map(|statement| {
        let kind = match &statement.kind {
            StatementKind::Send {
                channel,
                sorted: false,
                arguments,
            } => StatementKind::Receive {
                channel: channel.clone(),
                random: false,
                peek: true,
                arguments: arguments.iter().map(argument).collect(),
            },
            StatementKind::Receive {
                random: false,
                peek: false,
                ..
            }
            | StatementKind::Break
            | StatementKind::Goto(_) => statement.kind.clone(),
            StatementKind::If(options) => StatementKind::If(all(options)?),
            StatementKind::Do(options) => StatementKind::Do(all(options)?),
            StatementKind::Block(inner) => StatementKind::Block(as_receives(inner)?),
            _ => return Err(Problem::NoEvent),
        };
        Ok(Statement {
            kind,
            ..statement.clone()
        })
    });
    Ok(Sequence {
        statements: statements.collect::<Result<_, _>>()?,
        span: body.span,
    })
}

fn all(options: &[Sequence]) -> Result<Vec<Sequence>, Problem> {
    options.iter().map(as_receives).collect()
}

fn argument(syntax: &crate::ast::Expr) -> ReceiveArgument {
    match &syntax.kind {
        ExprKind::Variable(path) => ReceiveArgument::Path(path.clone()),
        _ => ReceiveArgument::Eval(syntax.clone()),
    }
}

impl EventTrace {
    /// Reads the automaton; its variable is the next one of the program.
    pub fn new(
        automaton: &Automaton,
        program_channels: &[ChannelDecl],
        variable: VariableId,
        is_negated: bool,
        claim: usize,
    ) -> Result<EventTrace, Problem> {
        let locations = &automaton.locations;
        for prefix in ["accept", "progress"] {
            let found = automaton.labels.beginning_with(prefix, locations);
            if found.map_or(true, |found| !found.is_empty()) {
                return Err(Problem::Label);
            }
        }
        // Two states more than locations: violated, and not interested any more.
        if locations.len() + 2 > usize::from(u8::MAX) {
            return Err(Problem::TooManyStates);
        }
        let mut events = Vec::new();
        let mut is_end = Vec::new();
        for location in locations {
            let ends = |edge: &Edge| edge.effects.contains(&Effect::Exit);
            let is_over = location.edges.iter().all(ends);
            is_end.push(is_over);
            let mut own: Vec<Event> = Vec::new();
            for edge in location.edges.iter().filter(|_| !is_over) {
                let event = event(edge, location, program_channels)?;
                if own.iter().any(|other| may_be_same(other, &event)) {
                    return Err(Problem::Nondeterministic);
                }
                own.push(event);
            }
            events.push(own);
        }
        Ok(EventTrace {
            variable,
            events,
            is_end,
            is_negated,
            claim,
        })
    }

    /// The hidden variable.
    pub fn cell(&self, entry: LocationId) -> Variable {
        Variable {
            name: "%trace".into(),
            ty: Ty::BYTE,
            len: 1,
            is_array: false,
            init: Init::All(u64::from(entry.0)),
            symbols: None,
            addressable: false,
            names: CellNames::default(),
            span: None,
        }
    }

    fn violated(&self) -> usize {
        self.events.len()
    }

    fn over(&self) -> usize {
        self.events.len() + 1
    }

    fn place(&self) -> Place {
        Place::scalar(VariableRef::Global(self.variable), Ty::BYTE)
    }

    fn is_in(&self, state: usize) -> Expr {
        let value = Expr::Read(self.place()).resize(32, false);
        Expr::binary(BinaryOp::Eq, value, Expr::int(state as i64))
    }

    fn reads(&self, end: ChannelEnd, channel: u32) -> bool {
        let mut events = self.events.iter().flatten();
        events.any(|event| event.end == end && event.channel == channel)
    }

    /// What the runs must not do, over the variable.
    pub fn check(&self, automaton: &Automaton) -> Check {
        let is_middle = |state: &usize| {
            let location: &Location = &automaton.locations[*state];
            !self.is_end[*state] && !location.valid_end
        };
        let middle = (0..self.events.len())
            .filter(is_middle)
            .fold(Expr::FALSE, |any, state| any.or(self.is_in(state)));
        let some_process = Expr::binary(BinaryOp::Ne, Expr::ThreadCount, Expr::int(0));
        let propositions = vec![
            Proposition::Holds(self.is_in(self.violated())),
            Proposition::Holds(middle.and(some_process)),
            Proposition::NoneEnabled,
            // Which places are no proper ends is known when all processes are.
            Proposition::SomeThreadAt(Vec::new()),
        ];
        let mut formulas = Formulas::default();
        let [violated, middle, stuck] = [0, 1, 2].map(|number| formulas.literal(number, true));
        let properly = formulas.literal(NO_PROPER_END, false);
        let ended = formulas.and(stuck, properly);
        let not_completed = formulas.and(middle, ended);
        let wrong = formulas.or(violated, not_completed);
        let forbidden = formulas.eventually(wrong);
        match translate(&formulas, forbidden) {
            Ok(automaton) => Check::Forbidden(Box::new(Monitor {
                propositions,
                automaton,
                formula: Some((formulas, forbidden)),
                checks: Vec::new(),
                extends_finite_runs: true,
                uses_last: false,
            })),
            Err(_) => Check::Untranslated("its automaton is too large".into()),
        }
    }

    /// Lets the edges of the program that are events move the automaton.
    pub fn build_in(
        &self,
        program: &mut Program,
        numbers: &mut StatementNumbers,
    ) -> Result<(), Problem> {
        let mut changes = Vec::new();
        let flow = Flow::find(program);
        for (number, template) in program.templates.iter().enumerate() {
            for (at, location) in template.locations.iter().enumerate() {
                for (which, edge) in location.edges.iter().enumerate() {
                    let is_meant = |expr: &Expr, channel: u32| {
                        let meant = flow.meant(number as u32, expr);
                        meant.contains(&Channel::Global(channel))
                    };
                    let ways = self.ways(program, edge, is_meant)?;
                    if ways.len() > 1 {
                        changes.push((number, at, which, ways));
                    }
                }
            }
        }
        for (template, at, which, ways) in changes {
            let edges = &mut program.templates[template].locations[at].edges;
            let numbers = &mut numbers[template][at];
            let original = edges[which].clone();
            for (position, (condition, next)) in ways.into_iter().enumerate() {
                let mut effects = original.effects.clone();
                if let Some(next) = next {
                    effects.push(Effect::Assign {
                        place: self.place(),
                        value: Expr::constant(next as i64, Ty::BYTE.width),
                    });
                }
                let edge = Edge {
                    guard: original.guard.clone().and(condition),
                    effects,
                    ..original.clone()
                };
                if position == 0 {
                    edges[which] = edge;
                } else {
                    edges.push(edge);
                    numbers.push(numbers[which]);
                }
            }
        }
        let places = no_proper_ends(program);
        if let Check::Forbidden(monitor) = &mut program.info_mut().claims[self.claim].check {
            monitor.propositions[NO_PROPER_END as usize] = Proposition::SomeThreadAt(places);
        }
        Ok(())
    }

    /// The conditions under which a step leads the automaton to each of its states; none for a step
    /// that it does not read.
    fn ways(
        &self,
        program: &Program,
        edge: &Edge,
        is_meant: impl Fn(&Expr, u32) -> bool,
    ) -> Result<Vec<(Expr, Option<usize>)>, Problem> {
        // A rendezvous is one step, told by the values of its sender.
        let (channel, performed) = match edge.effects.first() {
            Some(Effect::Send { channel, .. }) => (channel, ChannelEnd::Send),
            Some(Effect::Receive {
                channel,
                peek: false,
                ..
            }) => (channel, ChannelEnd::Receive),
            _ => return Ok(Vec::new()),
        };
        let mut is_read = Expr::FALSE;
        // By next state, the condition.
        let mut next: Vec<(usize, Expr)> = Vec::new();
        for (id, declared) in (0..).zip(&program.channels) {
            if !is_meant(channel, id) {
                continue;
            }
            let is_rendezvous = declared.capacity == 0;
            let end = match (is_rendezvous, performed) {
                (true, ChannelEnd::Send) => ChannelEnd::Receive,
                (true, ChannelEnd::Receive) => continue,
                (false, end) => end,
            };
            if !self.reads(end, id) {
                continue;
            }
            let out_of_order = match &edge.effects[0] {
                Effect::Send { sorted, .. } => *sorted && !is_rendezvous,
                Effect::Receive { random, .. } => *random,
                _ => false,
            };
            if out_of_order {
                return Err(Problem::OutOfOrder);
            }
            let is_this = match channel {
                Expr::Channel(_) => Expr::TRUE,
                other => {
                    let known = Expr::Channel(ChannelRef::Global(id));
                    Expr::binary(BinaryOp::Eq, other.clone(), known)
                }
            };
            is_read = is_read.or(is_this.clone());
            for (state, events) in self.events.iter().enumerate() {
                for event in events {
                    if event.end != end || event.channel != id {
                        continue;
                    }
                    let fits = match &edge.effects[0] {
                        Effect::Send { values, .. } => sends(event, values, declared),
                        _ => oldest(event),
                    };
                    let target = match self.is_negated && self.is_end[event.target] {
                        true => self.violated(),
                        false => event.target,
                    };
                    let condition = self.is_in(state).and(is_this.clone()).and(fits);
                    match next.iter_mut().find(|(known, _)| *known == target) {
                        Some((_, known)) => *known = known.clone().or(condition),
                        None => next.push((target, condition)),
                    }
                }
            }
        }
        if is_read == Expr::FALSE {
            return Ok(Vec::new());
        }
        let mut is_possible = Expr::FALSE;
        for (_, condition) in &next {
            is_possible = is_possible.or(condition.clone());
        }
        let mut ways: Vec<(Expr, Option<usize>)> = (next.into_iter())
            .map(|(state, condition)| (condition, Some(state)))
            .collect();
        let is_violated = self.is_in(self.violated());
        let unread = is_read.clone().negate();
        let otherwise = is_read.and(is_possible.negate());
        if self.is_negated {
            ways.push((otherwise.clone().and(is_violated.clone()), None));
            ways.push((otherwise.and(is_violated.negate()), Some(self.over())));
        } else {
            ways.push((otherwise, Some(self.violated())));
        }
        if unread != Expr::FALSE {
            ways.push((unread, None));
        }
        Ok(ways)
    }
}

/// The places at which a process that cannot move has not ended properly.
fn no_proper_ends(program: &Program) -> Vec<(TemplateId, LocationId)> {
    let mut places = Vec::new();
    for (template, body) in (0..).map(TemplateId).zip(&program.templates) {
        let locations = (0..).map(LocationId).zip(&body.locations);
        let wrong = locations.filter(|(_, location)| !location.valid_end);
        places.extend(wrong.map(|(id, _)| (template, id)));
    }
    places
}

fn event(edge: &Edge, location: &Location, channels: &[ChannelDecl]) -> Result<Event, Problem> {
    let [
        Effect::Receive {
            channel,
            args,
            random: false,
            peek,
        },
    ] = &edge.effects[..]
    else {
        return Err(Problem::NoEvent);
    };
    if location.atomic {
        return Err(Problem::NoEvent);
    }
    let Expr::Channel(ChannelRef::Global(channel)) = channel else {
        return Err(Problem::Channel);
    };
    if edge.guard != Expr::TRUE || channels[*channel as usize].fields.len() != args.len() {
        return Err(Problem::Fields);
    }
    let field = |arg: &ReceiveArg| match arg {
        ReceiveArg::Ignore => Ok(None),
        ReceiveArg::Match(value) => match value.as_const() {
            Some(value) => Ok(Some(i64::from(value as i32))),
            None => Err(Problem::Fields),
        },
        ReceiveArg::Store(_) => Err(Problem::Fields),
    };
    Ok(Event {
        end: match peek {
            true => ChannelEnd::Send,
            false => ChannelEnd::Receive,
        },
        channel: *channel,
        fields: args.iter().map(field).collect::<Result<_, _>>()?,
        target: edge.target.index(),
    })
}

fn may_be_same(one: &Event, other: &Event) -> bool {
    let differ = |(a, b): (&Option<i64>, &Option<i64>)| match (a, b) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    };
    one.end == other.end
        && one.channel == other.channel
        && !one.fields.iter().zip(&other.fields).any(differ)
}

/// Whether a message with these values is the event: each is cut off to its field.
fn sends(event: &Event, values: &[Expr], declared: &ChannelDecl) -> Expr {
    let zero = Expr::int(0);
    let mut fits = Expr::TRUE;
    for (position, field) in event.fields.iter().enumerate() {
        let Some(wanted) = field else { continue };
        let ty = declared.fields[position].ty;
        let value = values.get(position).unwrap_or(&zero).clone();
        let kept = value.resize(ty.width, true).resize(32, ty.signed);
        fits = fits.and(Expr::binary(BinaryOp::Eq, kept, Expr::int(*wanted)));
    }
    fits
}

/// Whether the oldest message is the event.
fn oldest(event: &Event) -> Expr {
    let arg = |field: &Option<i64>| match field {
        None => ReceiveArg::Ignore,
        Some(value) => ReceiveArg::Match(Expr::int(*value)),
    };
    Expr::CanReceive {
        channel: Box::new(Expr::Channel(ChannelRef::Global(event.channel))),
        args: event.fields.iter().map(arg).collect(),
        random: false,
    }
}
